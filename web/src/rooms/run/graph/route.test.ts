import { describe, expect, it } from 'vitest';
import type { Point } from '../../../ui/point';
import { type Direction, type Edge, edges, layout, type Linked, NODE_HEIGHT, NODE_WIDTH } from './layout';
import { pathOf, router } from './route';

/** The tasks behind which an arrow runs, its ends apart. */
function hidden(links: readonly Edge[], places: ReadonlyMap<number, Point>, direction: Direction): string[] {
  const way = router(places, direction);
  return links.flatMap(({ from, to }) => {
    const corners = way(from, to);
    return [...places]
      .filter(([, place]) => corners.slice(1).some((corner, at) => crosses(corners[at] ?? corner, corner, place)))
      .map(([index]) => `${from}>${to} behind ${index}`);
  });
}

/** Whether a straight line runs through the inside of a task. */
const crosses = (one: Point, other: Point, { x, y }: Point): boolean =>
  Math.max(one.x, other.x) > x &&
  Math.min(one.x, other.x) < x + NODE_WIDTH &&
  Math.max(one.y, other.y) > y &&
  Math.min(one.y, other.y) < y + NODE_HEIGHT;

const task = (index: number, context: number[]): Linked => ({ index, context });

describe('arrows', () => {
  const SHAPES: Record<string, Linked[]> = {
    'one that skips a task': [task(1, []), task(2, [1]), task(3, [1, 2])],
    'a dense web': Array.from({ length: 24 }, (_, at) =>
      task(
        at + 1,
        Array.from({ length: at }, (_, before) => before + 1).filter((before) => (before * 7 + at) % 5 === 0),
      ),
    ),
    'a thousand tasks': Array.from({ length: 1_000 }, (_, at) =>
      task(at + 1, at < 100 ? [] : [((at * 37) % 100) + 1, at - 99]),
    ),
  };
  for (const [name, tasks] of Object.entries(SHAPES))
    for (const direction of ['LR', 'TB'] as const)
      it(`never run behind a task: ${name}, ${direction}`, () => {
        const links = edges(tasks, 'PARALLEL');
        const places = layout(tasks, links, direction);
        // A grid has its columns from left to right on a narrow screen too.
        expect(hidden(links, places, tasks.length > 300 ? 'LR' : direction)).toEqual([]);
      });

  it('go in straight lines with round corners', () => {
    const corners = router(
      new Map([
        [1, { x: 0, y: 0 }],
        [2, { x: 300, y: 200 }],
      ]),
      'LR',
    )(1, 2);
    expect(corners).toEqual([
      { x: 232, y: 41 },
      { x: 243, y: 41 },
      { x: 243, y: 241 },
      { x: 300, y: 241 },
    ]);
    expect(pathOf(corners)).toBe('M232,41 L237.5,41 Q243,41 243,49 L243,233 Q243,241 251,241 L300,241');
  });
});
