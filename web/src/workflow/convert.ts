// From a document to a graph and back. What is empty is left out, so that the server's defaults hold; what this page
// does not know is kept as it is.

import type { RunOptions, TaskDocument, WorkflowDocument } from '../api/types';
import { grouped } from '../ui/grouped';
import { blank, type Graph, type Group, type Task } from './graph';
import { arranged } from './place';

/** Words and characters of the name the server gives a task that has none. */
const NAME_WORDS = 6;
const NAME_CHARS = 40;

const DEFAULT_PLACE = { x: 0, y: 0 };

export function toGraph(document: WorkflowDocument): Graph {
  const tasks = toTasks(document.tasks);
  const isPlaced = document.tasks.every(({ position }) => position);
  const graph: Graph = {
    name: document.name,
    description: document.description ?? '',
    inputs: Object.fromEntries(Object.entries(document.inputs ?? {}).filter(([, value]) => value !== null)),
    options: optionsOf(document.options),
    tasks,
    groups: toGroups(document, tasks),
  };
  return isPlaced ? graph : arranged(graph);
}

/** An input as it is typed: what reads as a list or an object of JSON is one, everything else a text. */
export function typedInput(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

type GroupDocument = NonNullable<WorkflowDocument['groups']>[number];

const digits = (value: number | string | null | undefined): string =>
  value === undefined || value === null ? '' : String(value);

function toGroups({ groups, tasks: documents }: WorkflowDocument, tasks: readonly Task[]): Group[] {
  const names = givenNames(documents);
  return (groups ?? []).map((group) => ({
    name: group.name,
    tasks: (group.tasks ?? []).flatMap((name) => tasks[names.indexOf(name)]?.id ?? []),
    when: group.when ?? '',
    forEach: group.forEach ?? '',
    maxItems: digits(group.maxItems),
    maxParallel: digits(group.maxParallel),
    repeatUntil: group.repeatUntil ?? '',
    maxRounds: digits(group.maxRounds),
    onMaxRounds: ({ fail: 'fail', accept: 'accept' } as const)[(group.onMaxRounds ?? '').toLowerCase()] ?? '',
  }));
}

function toGroupDocument(graph: Graph, names: readonly string[], group: Group): GroupDocument {
  return {
    name: group.name,
    tasks: group.tasks.flatMap((id) => names[graph.tasks.findIndex((task) => task.id === id)] ?? []),
    ...branching(group),
    ...(group.repeatUntil.trim() ? { repeatUntil: group.repeatUntil } : {}),
    ...(group.maxRounds ? { maxRounds: Number(group.maxRounds) } : {}),
    ...(group.onMaxRounds ? { onMaxRounds: group.onMaxRounds } : {}),
  };
}

/** The condition and the list of a task or a group. */
function branching({
  when,
  forEach,
  maxItems,
  maxParallel,
}: Pick<Task, 'when' | 'forEach' | 'maxItems' | 'maxParallel'>) {
  return {
    ...(when.trim() ? { when } : {}),
    ...(forEach.trim() ? { forEach } : {}),
    ...(maxItems ? { maxItems: Number(maxItems) } : {}),
    ...(maxParallel ? { maxParallel: Number(maxParallel) } : {}),
  };
}

/** The server takes words in any case; the choices of this page are in capitals. */
function optionsOf(options: WorkflowDocument['options']): RunOptions {
  const fields = Object.entries(options ?? {}).filter(([, value]) => value !== null);
  return Object.fromEntries(
    fields.map(([name, value]) => [name, typeof value === 'string' ? value.toUpperCase() : value]),
  );
}

/** Tasks with ids of their own, their references resolved as the server resolves them. */
export function toTasks(documents: readonly TaskDocument[]): Task[] {
  const names = givenNames(documents);
  const ids = documents.map((_, position) => `t${position + 1}`);
  const idOf = (reference: string): string[] => {
    // A model may have sent a number.
    const name = String(reference).replace(/^\$/, '');
    const position = /^\d+$/.test(name) ? Number(name) : names.indexOf(name);
    return ids[position] === undefined ? [] : [ids[position]];
  };
  return documents.map((document, position) => toTask(document, ids[position] ?? '', idOf));
}

function toTask(document: TaskDocument, id: string, idOf: (reference: string) => string[]): Task {
  const {
    name,
    description,
    expectedOutput,
    additionalContext,
    agent,
    model,
    tools,
    context,
    maxIterations,
    outputSchema,
    review,
    when,
    forEach,
    maxItems,
    maxParallel,
    position,
    ...rest
  } = document;
  return {
    ...blank(id),
    name: name ?? '',
    description: description ?? '',
    expectedOutput: expectedOutput ?? '',
    additionalContext: additionalContext ?? '',
    role: agent?.role ?? '',
    goal: agent?.goal ?? '',
    background: agent?.background ?? '',
    mayDelegate: agent?.allowDelegation ?? false,
    model: model ?? '',
    tools: tools ?? [],
    reads: [...new Set((context ?? []).flatMap(idOf))],
    maxIterations: maxIterations === undefined || maxIterations === null ? '' : String(maxIterations),
    outputSchema: outputSchema === undefined || outputSchema === null ? '' : JSON.stringify(outputSchema, null, 2),
    review: reviewOf(review),
    when: when ?? '',
    forEach: forEach ?? '',
    maxItems: digits(maxItems),
    maxParallel: digits(maxParallel),
    at: position ?? DEFAULT_PLACE,
    rest,
  };
}

function reviewOf(review: string | null | undefined): Task['review'] {
  const word = (review ?? '').toLowerCase();
  return word === 'required' || word === 'skip' ? word : '';
}

/** The names tasks have on the server: their own, or one made from the description. */
export function givenNames(documents: readonly Pick<TaskDocument, 'name' | 'description'>[]): string[] {
  const taken = new Set(documents.flatMap(({ name }) => name || []));
  return documents.map(({ name, description }) => {
    if (name) return name;
    const words = (description ?? '')
      .split(/\s+/)
      .map((word) => word.replaceAll(/[^\p{L}\p{N}]/gu, '').toLowerCase())
      .filter(Boolean);
    const slug = [...words.slice(0, NAME_WORDS).join('-')].slice(0, NAME_CHARS).join('') || 'task';
    let free = slug;
    for (let number = 2; taken.has(free); number += 1) free = `${slug}-${number}`;
    taken.add(free);
    return free;
  });
}

export function toDocument(graph: Graph): WorkflowDocument {
  const references = referencesOf(graph);
  const names = givenNames(graph.tasks);
  return {
    name: graph.name.trim(),
    ...(graph.description.trim() ? { description: graph.description } : {}),
    tasks: graph.tasks.map((task) => toTaskDocument(references, task)),
    ...(Object.keys(graph.inputs).length > 0 ? { inputs: graph.inputs } : {}),
    ...(Object.keys(graph.options).length > 0 ? { options: graph.options } : {}),
    ...(graph.groups.length > 0 ? { groups: graph.groups.map((group) => toGroupDocument(graph, names, group)) } : {}),
  };
}

/** A task as the server takes it. A schema that is no JSON yet is left out; the checks tell of it. */
export function toTaskDocument(references: ReadonlyMap<string, string>, task: Task): TaskDocument {
  const agent = agentOf(task);
  const schema = parsedSchema(task.outputSchema);
  return {
    ...task.rest,
    ...(task.name.trim() ? { name: task.name } : {}),
    description: task.description,
    ...(task.expectedOutput.trim() ? { expectedOutput: task.expectedOutput } : {}),
    ...(task.additionalContext.trim() ? { additionalContext: task.additionalContext } : {}),
    ...(agent ? { agent } : {}),
    ...(task.model ? { model: task.model } : {}),
    ...(task.tools.length > 0 ? { tools: task.tools } : {}),
    ...(task.reads.length > 0 ? { context: task.reads.flatMap((id) => references.get(id) ?? []) } : {}),
    ...(task.maxIterations ? { maxIterations: Number(task.maxIterations) } : {}),
    ...(schema.value === undefined ? {} : { outputSchema: schema.value }),
    ...(task.review ? { review: task.review } : {}),
    ...branching(task),
    position: { x: Math.round(task.at.x), y: Math.round(task.at.y) },
  };
}

function agentOf({ role, goal, background, mayDelegate }: Task): TaskDocument['agent'] {
  if (!role.trim()) return undefined;
  return {
    role,
    ...(goal.trim() ? { goal } : {}),
    ...(background.trim() ? { background } : {}),
    ...(mayDelegate ? { allowDelegation: true } : {}),
  };
}

/** The reference to each task: its name where that is unique, else its position. */
export function referencesOf({ tasks }: Graph): Map<string, string> {
  const names = grouped(tasks, ({ name }) => name);
  const isClear = (name: string): boolean => name.trim() !== '' && !/^\d+$/.test(name) && names.get(name)?.length === 1;
  return new Map(tasks.map(({ id, name }, position) => [id, `$${isClear(name) ? name : position}`]));
}

export function parsedSchema(text: string): { value?: unknown; problem?: string } {
  if (!text.trim()) return {};
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Whether two graphs are saved as the same document. */
export function isSame(one: Graph, other: Graph): boolean {
  return one === other || fingerprint(one) === fingerprint(other);
}

function fingerprint(graph: Graph): string {
  const unread = graph.tasks.map(({ outputSchema }) => (parsedSchema(outputSchema).problem ? outputSchema : ''));
  return JSON.stringify([toDocument(graph), unread]);
}
