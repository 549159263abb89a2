import { describe, expect, it } from 'vitest';
import type { RunDetail } from '../../api/types';
import { aligned, difference } from './align';

const run = (...names: string[]): RunDetail => ({ tasks: names.map((name) => ({ name })) }) as unknown as RunDetail;

describe('two runs side by side', () => {
  it('have their tasks aligned by name, and those of one alone in their place', () => {
    const pairs = aligned(run('a', 'b', 'd'), run('a', 'c', 'd', 'e'));
    expect(pairs.map(({ name, left, right }) => `${left ? 'l' : '-'}${right ? 'r' : '-'} ${name}`)).toEqual([
      'lr a',
      '-r c',
      'l- b',
      'lr d',
      '-r e',
    ]);
  });

  it('say by how much a number differs', () => {
    expect(difference({ name: '', left: 10, right: 12 })).toBe('+20 %');
    expect(difference({ name: '', left: 10, right: 5 })).toBe('−50 %');
    expect(difference({ name: '', left: 10, right: 10 })).toBe('');
    expect(difference({ name: '', left: undefined, right: 10 })).toBe('');
    expect(difference({ name: '', left: 0, right: 10 })).toBe('');
  });
});
