import { describe, expect, it } from 'vitest';
import { lane, lanePath } from './route';

const SIZE = { width: 200, height: 80 };
const at = (x: number, y: number) => ({ x, y });

describe('the way of an arrow', () => {
  it('is straight where nothing stands in it', () => {
    expect(lane(at(0, 0), at(300, 0), [at(300, 300)], SIZE)).toBeUndefined();
    expect(lane(at(0, 0), at(600, 0), [at(300, 200)], SIZE)).toBeUndefined();
    expect(lane(at(600, 0), at(0, 0), [at(300, 0)], SIZE)).toBeUndefined();
  });

  it('goes over or under what stands in it, past everything else', () => {
    const over = lane(at(0, 0), at(600, 0), [at(300, 10)], SIZE) ?? 0;
    expect(over).toBeLessThan(10);
    const under = lane(at(0, 0), at(600, 0), [at(300, 0), at(300, -60)], SIZE) ?? 0;
    expect(under).toBeGreaterThan(80);
    expect(lanePath(at(0, 0), at(100, 0), -50)).toMatch(/^M0,0 .* 100,0$/);
  });
});
