// The places of tasks on the canvas.

import { type Edge, edges, layout, type Linked, NODE_HEIGHT, NODE_WIDTH } from '../rooms/run/graph/layout';
import type { TaskGroup } from '../run/state';
import { givenNames } from './convert';
import { type Graph, move, order, type Task } from './graph';
import type { Point } from '../ui/point';

const GAP_X = 64;
const GAP_Y = 28;

/** Tasks as the layout takes them: by numbers from 1. */
function linked({ tasks, groups }: Graph): { tasks: Linked[]; groups: TaskGroup[] } {
  const numbers = new Map(tasks.map(({ id }, position) => [id, position + 1]));
  const numbered = (ids: readonly string[]): number[] => ids.flatMap((id) => numbers.get(id) ?? []);
  const names = givenNames(tasks);
  return {
    tasks: tasks.map(({ reads, when, forEach }, position) => ({
      index: position + 1,
      name: names[position] ?? '',
      when,
      forEach,
      context: numbered(reads),
    })),
    groups: groups.map(({ name, tasks: members, when, forEach, repeatUntil }) => ({
      name,
      tasks: numbered(members),
      when,
      forEach,
      repeatUntil,
    })),
  };
}

/** The links between tasks, by id. */
export function links(graph: Graph): { from: string; to: string; kind: Edge['kind'] }[] {
  const id = (index: number): string => graph.tasks[index - 1]?.id ?? '';
  const { tasks, groups } = linked(graph);
  return edges(tasks, order(graph), groups).map(({ from, to, kind }) => ({ from: id(from), to: id(to), kind }));
}

/** The same graph, its tasks placed by the layout. */
export function arranged(graph: Graph): Graph {
  const { tasks, groups } = linked(graph);
  const places = layout(tasks, edges(tasks, order(graph), groups), 'LR', groups);
  return move(graph, new Map(graph.tasks.map(({ id, at }, position) => [id, places.get(position + 1) ?? at])));
}

const overlaps = (one: Point, other: Point): boolean =>
  Math.abs(one.x - other.x) < NODE_WIDTH + GAP_Y / 2 && Math.abs(one.y - other.y) < NODE_HEIGHT + GAP_Y / 2;

/** A free place: right of what the task reads, else right of everything; lower until it is free. */
export function freePlace(graph: Graph, reads: readonly string[]): Point {
  const before = graph.tasks.filter(({ id }) => reads.includes(id));
  const beside = before.length > 0 ? before : graph.tasks;
  if (beside.length === 0) return { x: 0, y: 0 };
  const x = Math.max(...beside.map(({ at }) => at.x)) + NODE_WIDTH + GAP_X;
  let y =
    before.length > 0
      ? before.reduce((sum, { at }) => sum + at.y, 0) / before.length
      : Math.min(...beside.map(({ at }) => at.y));
  while (graph.tasks.some(({ at }) => overlaps(at, { x, y }))) y += NODE_HEIGHT + GAP_Y;
  return { x: Math.round(x), y: Math.round(y) };
}

/** Tasks of another drawing, moved as one below everything that is here. */
export function below(graph: Graph, tasks: readonly Task[]): Task[] {
  if (graph.tasks.length === 0 || tasks.length === 0) return [...tasks];
  const left = Math.min(...graph.tasks.map(({ at }) => at.x));
  const bottom = Math.max(...graph.tasks.map(({ at }) => at.y)) + NODE_HEIGHT + GAP_X;
  const [x, y] = [Math.min(...tasks.map(({ at }) => at.x)), Math.min(...tasks.map(({ at }) => at.y))];
  return tasks.map((task) => ({ ...task, at: { x: task.at.x - x + left, y: task.at.y - y + bottom } }));
}
