import { describe, expect, it } from 'vitest';
import { edges, layout } from './layout';

describe('the graph', () => {
  const task = (index: number, context: number[]): { index: number; context: number[] } => ({ index, context });

  it('draws the order of a sequence where no link says it', () => {
    expect(
      edges([task(1, []), task(2, [1]), task(3, [])], 'SEQUENTIAL').map(({ from, to, kind }) => `${from}${to}${kind}`),
    ).toEqual(['12reads', '23then']);
    expect(edges([task(1, []), task(2, [])], 'PARALLEL')).toEqual([]);
  });

  it('places a thousand tasks apart, readers after what they read', () => {
    const tasks = Array.from({ length: 1_000 }, (_, position) =>
      task(position + 1, position >= 500 ? [position - 499] : []),
    );
    const places = layout(tasks, edges(tasks, 'PARALLEL'));
    expect(new Set([...places.values()].map(({ x, y }) => `${x},${y}`)).size).toBe(1_000);
    expect(places.get(501)?.x).toBeGreaterThan(places.get(1)?.x ?? Infinity);
  });
});
