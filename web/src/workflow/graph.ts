// A workflow on the canvas: tasks with ids that survive renaming, and the edits people and agents make. Every
// edit gives a new graph and leaves the old one as it was, which is all that undoing needs.

import type { RunOptions, Workflow } from '../api/types';
import { grouped } from '../ui/grouped';
import type { Point } from '../ui/point';
import { variablesIn } from './variables';
import { t } from '../words/t';

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
  /** A condition; where it does not hold, the task is skipped. */
  when: string;
  /** A list, for each of whose items the task is done. */
  forEach: string;
  maxItems: string;
  maxParallel: string;
  at: Point;
  /** The fields of the document this page does not know. */
  rest: Record<string, unknown>;
}

/** Tasks that are skipped, repeated or fanned out together. */
export interface Group {
  name: string;
  /** The ids of its tasks, in their order. */
  tasks: string[];
  when: string;
  forEach: string;
  maxItems: string;
  maxParallel: string;
  /** The condition that ends its rounds. */
  repeatUntil: string;
  maxRounds: string;
  onMaxRounds: '' | 'fail' | 'accept';
}

export interface Graph {
  name: string;
  description: string;
  inputs: Record<string, unknown>;
  options: RunOptions;
  tasks: Task[];
  groups: Group[];
}

export type Fields = Partial<Omit<Task, 'id'>>;

export const EMPTY: Graph = { name: '', description: '', inputs: {}, options: {}, tasks: [], groups: [] };

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
  when: '',
  forEach: '',
  maxItems: '',
  maxParallel: '',
  at: { x: 0, y: 0 },
  rest: {},
};

export const blank = (id: string): Task => ({ id, ...BLANK });

export const find = (graph: Graph, id: string): Task | undefined => graph.tasks.find((task) => task.id === id);

/** The name of a task, or its position when it has none. */
export function titleOf(graph: Graph, id: string): string {
  const position = graph.tasks.findIndex((task) => task.id === id);
  return graph.tasks[position]?.name || t('Task {position}', { position: position + 1 });
}

/** The task of this name, in any spelling. */
export function findByName(graph: Graph, name: string): Task | undefined {
  const wanted = name.trim().replace(/^\$/, '').toLowerCase();
  return (
    graph.tasks.find((task) => task.name === name) ??
    graph.tasks.find(
      (task, position) => (task.name || t('task {position}', { position: position + 1 })).toLowerCase() === wanted,
    )
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
    groups: graph.groups
      .map((group) => ({ ...group, tasks: group.tasks.filter((id) => !ids.includes(id)) }))
      .filter(({ tasks }) => tasks.length > 0),
    tasks: left.map((task) =>
      task.reads.some((id) => ids.includes(id))
        ? { ...task, reads: task.reads.filter((id) => !ids.includes(id)) }
        : task,
    ),
  };
}

/** The reason `to` cannot read `from`, if there is one. */
export function linkRefusal(graph: Graph, from: string, to: string): string | undefined {
  if (from === to) return t("'{task}' cannot read itself", { task: titleOf(graph, to) });
  if (find(graph, to)?.reads.includes(from))
    return t("'{task}' reads '{task2}' already", { task: titleOf(graph, to), task2: titleOf(graph, from) });
  if (!isBack(graph, from, to) && upstream(graph, from).has(to))
    return t("'{task}' waits for '{task2}': they would wait on each other", {
      task: titleOf(graph, from),
      task2: titleOf(graph, to),
    });
  return undefined;
}

/** The group a task is in. */
export const groupOf = ({ groups }: Graph, id: string): Group | undefined =>
  groups.find(({ tasks }) => tasks.includes(id));

/** Whether `to` reads what `from` was in the round before: both are repeated together, and `from` is not earlier. */
export function isBack(graph: Graph, from: string, to: string): boolean {
  const group = groupOf(graph, to);
  if (!group || !group.repeatUntil.trim() || !group.tasks.includes(from)) return false;
  return group.tasks.indexOf(from) >= group.tasks.indexOf(to);
}

/** The tasks a task waits for in its own round. */
const forward = (graph: Graph, { id, reads }: Task): string[] => reads.filter((from) => !isBack(graph, from, id));

/** Everything a task waits for, directly or not. */
export function upstream(graph: Graph, id: string): Set<string> {
  return reachable(new Map(graph.tasks.map((task) => [task.id, forward(graph, task)])), id);
}

/** Everything that waits for a task, directly or not. */
export function downstream(graph: Graph, id: string): Set<string> {
  return reachable(readersOf(graph), id);
}

/** For each task, those that read it. */
function readersOf(graph: Graph): Map<string, string[]> {
  const links = graph.tasks.flatMap((task) => forward(graph, task).map((from) => ({ from, id: task.id })));
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
  const ahead = new Map(graph.tasks.map((task) => [task.id, forward(graph, task)]));
  const unmet = new Map([...ahead].map(([id, reads]) => [id, reads.length]));
  const open = [...ahead].filter(([, reads]) => reads.length === 0).map(([id]) => id);
  // Tasks are taken away in the order they could run; those left wait for a circle or are part of one.
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    unmet.delete(at);
    for (const reader of readers.get(at) ?? []) {
      unmet.set(reader, (unmet.get(reader) ?? 0) - 1);
      if (unmet.get(reader) === 0) open.push(reader);
    }
  }
  const left = new Map([...ahead].filter(([id]) => unmet.has(id)));
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
export function variables(graph: Graph): string[] {
  const { tasks, groups } = graph;
  const named = tasks.flatMap((task) => {
    const isRepeated = Boolean(task.forEach.trim() || groupOf(graph, task.id)?.forEach.trim());
    return variablesIn(textsOf(task)).filter((name) => !isRepeated || (name !== 'item' && name !== 'index'));
  });
  const expressions = [...tasks, ...groups].flatMap(({ when, forEach }) => [when, forEach]);
  const asked = expressions.flatMap((text) => [...text.matchAll(/\binputs\.(\w+)/g)].map(([, name = '']) => name));
  return [...new Set([...named, ...asked])];
}

function textsOf(task: Task): string[] {
  return [task.description, task.expectedOutput, task.additionalContext, task.role, task.goal, task.background];
}
