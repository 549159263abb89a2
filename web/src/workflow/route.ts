// The way of an arrow that would run behind other tasks: over or under them, in straight lines.

import type { Point } from '../ui/point';

export interface Size {
  width: number;
  height: number;
}

/** Pixels an arrow keeps from a task. */
const CLEARANCE = 18;
/** Pixels of the round corners. */
const CORNER = 10;

/** The height at which an arrow passes the tasks in its way; none where nothing is. Places are upper left corners. */
export function lane(from: Point, to: Point, others: readonly Point[], { width, height }: Size): number | undefined {
  const [start, end] = [
    { x: from.x + width, y: from.y + height / 2 },
    { x: to.x, y: to.y + height / 2 },
  ];
  if (end.x <= start.x) return undefined;
  const at = (x: number): number => start.y + ((end.y - start.y) * (x - start.x)) / (end.x - start.x);
  const between = others.filter(({ x }) => x < end.x && x + width > start.x);
  const inTheWay = between.filter(({ x, y }) => {
    const [left, right] = [at(Math.max(x, start.x)), at(Math.min(x + width, end.x))];
    return Math.max(left, right) > y - CLEARANCE / 2 && Math.min(left, right) < y + height + CLEARANCE / 2;
  });
  if (inTheWay.length === 0) return undefined;
  const above = free(Math.min(...inTheWay.map(({ y }) => y)) - CLEARANCE, -1, between, height);
  const below = free(Math.max(...inTheWay.map(({ y }) => y)) + height + CLEARANCE, 1, between, height);
  const middle = (start.y + end.y) / 2;
  return Math.abs(above - middle) <= Math.abs(below - middle) ? above : below;
}

/** The nearest height in a direction at which no task stands. */
function free(y: number, direction: 1 | -1, tasks: readonly Point[], height: number): number {
  const hit = tasks.find((task) => y > task.y - CLEARANCE && y < task.y + height + CLEARANCE);
  if (!hit) return y;
  return free(direction < 0 ? hit.y - CLEARANCE : hit.y + height + CLEARANCE, direction, tasks, height);
}

/** The path along a lane. */
export function lanePath(start: Point, end: Point, y: number): string {
  const [out, back] = [start.x + CLEARANCE, end.x - CLEARANCE];
  const turn = (Math.sign(back - out) || 1) * CORNER;
  const [rise, fall] = [Math.sign(y - start.y) * CORNER, Math.sign(end.y - y) * CORNER];
  return [
    `M${start.x},${start.y}`,
    `Q${out},${start.y} ${out},${start.y + rise}`,
    `L${out},${y - rise}`,
    `Q${out},${y} ${out + turn},${y}`,
    `L${back - turn},${y}`,
    `Q${back},${y} ${back},${y + fall}`,
    `L${back},${end.y - fall}`,
    `Q${back},${end.y} ${end.x},${end.y}`,
  ].join(' ');
}
