// The ways of arrows between tasks that stand in columns: straight lines in the gaps between the columns and between
// the tasks of one, so that no arrow runs behind a task. Arrows to one task come together before it.

import type { Point } from '../../../ui/point';
import { type Direction, NODE_HEIGHT, NODE_WIDTH } from './layout';

/** Pixels between a task and the line that passes it: half of the smallest gap there is. */
const BESIDE = 11;
/** Pixels around a task in which no line runs along it. */
const CLEARANCE = 8;
/** Pixels of the round corners. */
export const CORNER = 8;

/** Along: the way arrows go; across: the other one. */
interface Place {
  along: number;
  across: number;
}

export type Router = (from: number, to: number) => Point[];

/** Finds the corners of the arrow from one task to another. Places are upper left corners. */
export function router(places: ReadonlyMap<number, Point>, direction: Direction): Router {
  const isWide = direction === 'LR';
  const [length, breadth] = isWide ? [NODE_WIDTH, NODE_HEIGHT] : [NODE_HEIGHT, NODE_WIDTH];
  const turned = ({ x, y }: Point): Place => (isWide ? { along: x, across: y } : { along: y, across: x });
  const point = ({ along, across }: Place): Point => (isWide ? { x: along, y: across } : { x: across, y: along });
  const columns = new Map<number, number[]>();
  for (const { along, across } of [...places.values()].map(turned)) {
    const column = columns.get(along);
    if (column) column.push(across);
    else columns.set(along, [across]);
  }
  const known = new Map<string, Free>();
  const between = (low: number, high: number): Free => {
    const passed = [...columns.keys()].filter((along) => along < high && along + length > low);
    const key = passed.join();
    const free =
      known.get(key) ??
      freeBetween(
        passed.flatMap((along) => columns.get(along) ?? []),
        breadth,
      );
    known.set(key, free);
    return free;
  };
  return (from, to) => {
    const [one, other] = [places.get(from), places.get(to)];
    if (!one || !other) return [];
    const [source, target] = [turned(one), turned(other)];
    const start = { along: source.along + length, across: source.across + breadth / 2 };
    const end = { along: target.along, across: target.across + breadth / 2 };
    const [out, back] = [start.along + BESIDE, end.along - BESIDE];
    const lane = between(Math.min(out, back), Math.max(out, back))(start.across, end.across);
    return straightened([
      start,
      { along: out, across: start.across },
      { along: out, across: lane },
      { along: back, across: lane },
      { along: back, across: end.across },
      end,
    ]).map(point);
  };
}

/** Where a line may run past tasks, given where it comes from and goes to. */
type Free = (from: number, to: number) => number;

function freeBetween(tasks: readonly number[], breadth: number): Free {
  const taken: { from: number; to: number }[] = [];
  for (const across of tasks.toSorted((one, other) => one - other)) {
    const last = taken.at(-1);
    const [from, to] = [across - CLEARANCE, across + breadth + CLEARANCE];
    if (last && from < last.to) last.to = Math.max(last.to, to);
    else taken.push({ from, to });
  }
  const isFree = (across: number): boolean => taken.every(({ from, to }) => across <= from || across >= to);
  const beside = taken.flatMap(({ from, to }) => [from + CLEARANCE - BESIDE, to - CLEARANCE + BESIDE]).filter(isFree);
  return (from, to) => {
    if (isFree(to)) return to;
    if (isFree(from)) return from;
    const detour = (across: number): number => Math.abs(across - from) + Math.abs(across - to);
    return beside.reduce((best, across) => (detour(across) < detour(best) ? across : best), beside[0] ?? to);
  };
}

/** The corners without those that lie on a straight line, or on each other. */
function straightened(corners: readonly Place[]): Place[] {
  const kept: Place[] = [];
  for (const corner of corners) {
    const [before, last] = [kept.at(-2), kept.at(-1)];
    if (last?.along === corner.along && last.across === corner.across) continue;
    const isStraight =
      before &&
      last &&
      ((before.along === last.along && last.along === corner.along) ||
        (before.across === last.across && last.across === corner.across));
    if (isStraight) kept[kept.length - 1] = corner;
    else kept.push(corner);
  }
  return kept;
}

/** The way as a path with round corners. */
export function pathOf(corners: readonly Point[]): string {
  return corners
    .map((corner, at) => {
      const [before, after] = [corners[at - 1], corners[at + 1]];
      if (!before) return `M${corner.x},${corner.y}`;
      if (!after) return `L${corner.x},${corner.y}`;
      const [into, on] = [towards(corner, before), towards(corner, after)];
      return `L${into.x},${into.y} Q${corner.x},${corner.y} ${on.x},${on.y}`;
    })
    .join(' ');
}

/** The point where the round corner begins on the line to a neighbour. */
function towards(corner: Point, neighbour: Point): Point {
  const [x, y] = [neighbour.x - corner.x, neighbour.y - corner.y];
  const far = Math.hypot(x, y);
  const part = far === 0 ? 0 : Math.min(CORNER, far / 2) / far;
  return { x: corner.x + x * part, y: corner.y + y * part };
}
