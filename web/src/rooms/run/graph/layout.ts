// The places of the tasks of a run, and the arrows between them. They depend on the tasks' links alone, so a run
// that changes state keeps its picture.

import dagre from '@dagrejs/dagre';
import type { Workflow } from '../../../api/types';
import { namesIn } from '../../../run/expression';
import type { Task, TaskGroup } from '../../../run/state';
import { grouped } from '../../../ui/grouped';
import type { Point } from '../../../ui/point';

export const NODE_WIDTH = 232;
export const NODE_HEIGHT = 82;
const GAP_X = 64;
const GAP_Y = 22;
/** Tasks above which a grid by depth is drawn: the layout of dagre would take too long. */
export const DAGRE_MAX = 300;
/** Tasks above each other in a grid. */
const COLUMN_MAX = 24;

export interface Edge {
  from: number;
  to: number;
  /**
   * Read: the output goes into the prompt. Then: only the order. Asks: a manager hands it out. Decides: a condition or a
   * list of the reader names it. Again: what it was in the round before is read.
   */
  kind: 'reads' | 'then' | 'asks' | 'decides' | 'again';
}

export type Linked = Pick<Task, 'index' | 'context' | 'isManager' | 'when' | 'forEach'> & { name?: string };

export function edges(tasks: readonly Linked[], workflow: Workflow, groups: readonly TaskGroup[] = []): Edge[] {
  const read = tasks.flatMap(({ index, context }) =>
    context.map((from): Edge => ({ from, to: index, kind: isBack({ from, to: index }, groups) ? 'again' : 'reads' })),
  );
  const reads = [...read, ...deciding(tasks, groups, read)];
  if (workflow === 'HIERARCHICAL') {
    const manager = tasks.find(({ isManager }) => isManager);
    const asks = manager
      ? tasks
          .filter((task) => task !== manager)
          .map(({ index }): Edge => ({ from: manager.index, to: index, kind: 'asks' }))
      : [];
    return [...reads, ...asks];
  }
  if (workflow === 'PARALLEL') return reads;
  const known = new Set(reads.map(({ from, to }) => `${from}>${to}`));
  const order = tasks.slice(1).map(({ index }): Edge => ({ from: index - 1, to: index, kind: 'then' }));
  return [...reads, ...order.filter(({ from, to }) => !known.has(`${from}>${to}`))];
}

/** Whether a link leads from a member of a group to one that comes before it, or to itself. */
export function isBack({ from, to }: Pick<Edge, 'from' | 'to'>, groups: readonly TaskGroup[]): boolean {
  return groups.some(
    ({ tasks, repeatUntil }) =>
      repeatUntil && tasks.includes(from) && tasks.includes(to) && tasks.indexOf(from) >= tasks.indexOf(to),
  );
}

/** The links from tasks that conditions and lists name, where nothing else links them. */
function deciding(tasks: readonly Linked[], groups: readonly TaskGroup[], known: readonly Edge[]): Edge[] {
  const numbers = new Map(tasks.map(({ name, index }) => [name, index]));
  for (const { name, tasks: members } of groups) numbers.set(name, members.at(-1) ?? 0);
  const told = [
    ...tasks.map(({ index, when, forEach }) => ({ to: index, names: [...namesIn(when), ...namesIn(forEach)] })),
    ...groups.map(({ tasks: members, when, forEach }) => ({
      to: members[0] ?? 0,
      names: [...namesIn(when), ...namesIn(forEach)],
    })),
  ];
  const seen = new Set(known.map(({ from, to }) => `${from}>${to}`));
  return told
    .flatMap(({ to, names }) => names.map((name): Edge => ({ from: numbers.get(name) ?? 0, to, kind: 'decides' })))
    .filter(({ from, to }) => from > 0 && to > 0 && from !== to && !seen.has(`${from}>${to}`));
}

/** From left to right, or down a narrow screen. */
export type Direction = 'LR' | 'TB';

export function layout(
  tasks: readonly Linked[],
  links: readonly Edge[],
  direction: Direction = 'LR',
  groups: readonly TaskGroup[] = [],
): Map<number, Point> {
  // A link back would make a circle of what goes forward.
  const forward = links.filter(({ kind }) => kind !== 'again');
  return isGrid(tasks, links) ? grid(tasks, forward) : dagreLayout(tasks, forward, direction, groups);
}

/** Whether the tasks stand in a grid, which goes from left to right on every screen. */
export function isGrid(tasks: readonly Linked[], links: readonly Edge[]): boolean {
  return tasks.length > DAGRE_MAX || (links.length === 0 && tasks.length > 8);
}

function dagreLayout(
  tasks: readonly Linked[],
  links: readonly Edge[],
  rankdir: Direction,
  groups: readonly TaskGroup[],
): Map<number, Point> {
  const ranksep = rankdir === 'LR' ? GAP_X : 2 * GAP_Y;
  const graph = new dagre.graphlib.Graph({ compound: groups.length > 0 })
    .setGraph({ rankdir, nodesep: GAP_Y, ranksep })
    .setDefaultEdgeLabel(() => ({}));
  for (const { index } of tasks) graph.setNode(String(index), { width: NODE_WIDTH, height: NODE_HEIGHT });
  for (const { name, tasks: members } of groups) {
    graph.setNode(`group ${name}`, {});
    for (const member of members) graph.setParent(String(member), `group ${name}`);
  }
  for (const { from, to } of links) graph.setEdge(String(from), String(to));
  dagre.layout(graph);
  const place = ({ index }: Linked): [number, Point] => {
    const { x = 0, y = 0 } = graph.node(String(index)) ?? {};
    return [index, { x: x - NODE_WIDTH / 2, y: y - NODE_HEIGHT / 2 }];
  };
  return new Map(tasks.map(place));
}

/** Columns by depth; a column that is too long goes on beside itself. */
function grid(tasks: readonly Linked[], links: readonly Edge[]): Map<number, Point> {
  const columns: number[][] = [];
  for (const [index, depth] of depths(tasks, links)) (columns[depth] ??= []).push(index);
  const places = new Map<number, Point>();
  let x = 0;
  for (const column of columns.filter(Boolean)) {
    const rows = Math.min(column.length, Math.max(COLUMN_MAX, Math.ceil(Math.sqrt(column.length))));
    for (const [position, index] of column.entries()) {
      const beside = Math.floor(position / rows);
      places.set(index, { x: x + beside * (NODE_WIDTH + GAP_Y), y: (position % rows) * (NODE_HEIGHT + GAP_Y) });
    }
    x += Math.ceil(column.length / rows) * (NODE_WIDTH + GAP_Y) + GAP_X;
  }
  return places;
}

/** The length of the longest way to each task. Links never go round in a circle; a run with such tasks is refused. */
function depths(tasks: readonly Linked[], links: readonly Edge[]): Map<number, number> {
  const before = grouped(links, ({ to }) => to);
  const known = new Map<number, number>();
  for (const { index } of tasks) {
    const stack = [index];
    while (stack.length > 0) {
      const at = stack.at(-1) ?? index;
      const open = (before.get(at) ?? []).filter(({ from }) => !known.has(from));
      if (open.length > 0 && stack.length <= tasks.length) stack.push(...open.map(({ from }) => from));
      else {
        known.set(at, Math.max(-1, ...(before.get(at) ?? []).map(({ from }) => known.get(from) ?? -1)) + 1);
        stack.pop();
      }
    }
  }
  return known;
}
