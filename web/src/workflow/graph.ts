// A workflow on the canvas: tasks with ids that survive renaming, and the edits people and agents make. Every
// edit gives a new graph and leaves the old one as it was, which is all that undoing needs.

import type { RunOptions, Workflow } from '../api/types';
import { grouped } from '../ui/grouped';
import type { Point } from '../ui/point';
import { variablesIn } from './variables';

export interface Task {
  id: string;
  name: string;
  description: string;
  expectedOutput: string;
  additionalContext: string;
  role: string;
  goal: string;
  background: string;
  mayDelegate: boolean;
  model: string;
  tools: string[];
  /** The ids of the tasks whose output it reads. */
  reads: string[];
  maxIterations: string;
  /** As it is typed. */
  outputSchema: string;
  review: '' | 'required' | 'skip';
  at: Point;
  /** The fields of the document this page does not know. */
  rest: Record<string, unknown>;
}

export interface Graph {
  name: string;
  description: string;
  inputs: Record<string, string>;
  options: RunOptions;
  tasks: Task[];
}

export type Fields = Partial<Omit<Task, 'id'>>;

export const EMPTY: Graph = { name: '', description: '', inputs: {}, options: {}, tasks: [] };

const BLANK: Omit<Task, 'id'> = {
  name: '',
  description: '',
  expectedOutput: '',
  additionalContext: '',
  role: '',
  goal: '',
  background: '',
  mayDelegate: false,
  model: '',
  tools: [],
  reads: [],
  maxIterations: '',
  outputSchema: '',
  review: '',
  at: { x: 0, y: 0 },
  rest: {},
};

export const blank = (id: string): Task => ({ id, ...BLANK });

export const find = (graph: Graph, id: string): Task | undefined => graph.tasks.find((task) => task.id === id);

/** The name of a task, or its position when it has none. */
export function titleOf(graph: Graph, id: string): string {
  const position = graph.tasks.findIndex((task) => task.id === id);
  return graph.tasks[position]?.name || `Task ${position + 1}`;
}

/** The task of this name, in any spelling. */
export function findByName(graph: Graph, name: string): Task | undefined {
  const wanted = name.trim().replace(/^\$/, '').toLowerCase();
  return (
    graph.tasks.find((task) => task.name === name) ??
    graph.tasks.find((task, position) => (task.name || `task ${position + 1}`).toLowerCase() === wanted)
  );
}

/** An id no task has had, as far as this graph remembers. */
export function nextId(graph: Graph): string {
  return `t${Math.max(0, ...graph.tasks.map(({ id }) => Number(id.slice(1)) || 0)) + 1}`;
}

/** The name, with a number where it is taken. */
export function freeName(graph: Graph, wanted: string): string {
  const isFree = (name: string): boolean => graph.tasks.every((task) => task.name.toLowerCase() !== name.toLowerCase());
  if (isFree(wanted)) return wanted;
  let number = 2;
  while (!isFree(`${wanted} ${number}`)) number += 1;
  return `${wanted} ${number}`;
}

export function add(graph: Graph, fields: Fields): Graph {
  return { ...graph, tasks: [...graph.tasks, { ...blank(nextId(graph)), ...fields }] };
}

export function change(graph: Graph, id: string, fields: Fields): Graph {
  return { ...graph, tasks: graph.tasks.map((task) => (task.id === id ? { ...task, ...fields } : task)) };
}

/** Takes tasks away, and what others read of them. */
export function remove(graph: Graph, ids: readonly string[]): Graph {
  const left = graph.tasks.filter(({ id }) => !ids.includes(id));
  return {
    ...graph,
    tasks: left.map((task) =>
      task.reads.some((id) => ids.includes(id))
        ? { ...task, reads: task.reads.filter((id) => !ids.includes(id)) }
        : task,
    ),
  };
}

/** The reason `to` cannot read `from`, if there is one. */
export function linkRefusal(graph: Graph, from: string, to: string): string | undefined {
  if (from === to) return `'${titleOf(graph, to)}' cannot read itself`;
  if (find(graph, to)?.reads.includes(from)) return `'${titleOf(graph, to)}' reads '${titleOf(graph, from)}' already`;
  if (upstream(graph, from).has(to))
    return `'${titleOf(graph, from)}' waits for '${titleOf(graph, to)}': they would wait on each other`;
  return undefined;
}

/** Everything a task waits for, directly or not. */
export function upstream(graph: Graph, id: string): Set<string> {
  return reachable(new Map(graph.tasks.map((task) => [task.id, task.reads])), id);
}

/** Everything that waits for a task, directly or not. */
export function downstream(graph: Graph, id: string): Set<string> {
  return reachable(readersOf(graph), id);
}

/** For each task, those that read it. */
function readersOf(graph: Graph): Map<string, string[]> {
  const links = graph.tasks.flatMap(({ id, reads }) => reads.map((from) => ({ from, id })));
  return new Map([...grouped(links, ({ from }) => from)].map(([from, all]) => [from, all.map(({ id }) => id)]));
}

function reachable(leads: ReadonlyMap<string, string[]>, id: string): Set<string> {
  const found = new Set<string>();
  const open = [id];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const next of leads.get(at) ?? []) {
      if (!found.has(next)) {
        found.add(next);
        open.push(next);
      }
    }
  }
  return found;
}

/** The tasks that wait for themselves. */
export function circular(graph: Graph): Set<string> {
  const readers = readersOf(graph);
  const unmet = new Map(graph.tasks.map(({ id, reads }) => [id, reads.length]));
  const open = graph.tasks.filter(({ reads }) => reads.length === 0).map(({ id }) => id);
  // Tasks are taken away in the order they could run; those left wait for a circle or are part of one.
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    unmet.delete(at);
    for (const reader of readers.get(at) ?? []) {
      unmet.set(reader, (unmet.get(reader) ?? 0) - 1);
      if (unmet.get(reader) === 0) open.push(reader);
    }
  }
  const left = new Map(graph.tasks.filter(({ id }) => unmet.has(id)).map(({ id, reads }) => [id, reads]));
  return new Set([...left.keys()].filter((id) => reachable(left, id).has(id)));
}

export function connect(graph: Graph, from: string, to: string): Graph {
  return change(graph, to, { reads: [...(find(graph, to)?.reads ?? []), from] });
}

export function disconnect(graph: Graph, from: string, to: string): Graph {
  return change(graph, to, { reads: (find(graph, to)?.reads ?? []).filter((id) => id !== from) });
}

export function move(graph: Graph, places: ReadonlyMap<string, Point>): Graph {
  return { ...graph, tasks: graph.tasks.map((task) => ({ ...task, at: places.get(task.id) ?? task.at })) };
}

/** Puts copies of tasks in: new ids, names that are free, and links among themselves kept. */
export function insert(graph: Graph, tasks: readonly Task[]): { graph: Graph; ids: string[] } {
  const ids = new Map<string, string>();
  let grown = graph;
  for (const task of tasks) {
    const id = nextId(grown);
    ids.set(task.id, id);
    grown = {
      ...grown,
      tasks: [...grown.tasks, { ...task, id, name: task.name && freeName(grown, task.name), reads: [] }],
    };
  }
  for (const task of tasks) {
    const reads = task.reads.flatMap((read) => ids.get(read) ?? []);
    if (reads.length > 0) grown = change(grown, ids.get(task.id) ?? '', { reads });
  }
  return { graph: grown, ids: [...ids.values()] };
}

/** In which order its tasks run: as said, or as the server infers it. */
export function order(graph: Graph): Workflow {
  return graph.options.workflow ?? (graph.tasks.some(({ reads }) => reads.length > 0) ? 'PARALLEL' : 'SEQUENTIAL');
}

/** The `{variables}` of the tasks' texts. */
export function variables({ tasks }: Graph): string[] {
  const texts = tasks.flatMap((task) => [
    task.description,
    task.expectedOutput,
    task.additionalContext,
    task.role,
    task.goal,
    task.background,
  ]);
  return variablesIn(texts);
}
