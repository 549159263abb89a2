// The issues of a graph: those found here at once, and those the server found, each with the task and the field
// it is about.

import type { Mistake } from '../api/types';
import { grouped } from '../ui/grouped';
import { parsedSchema } from './convert';
import { circular, type Graph, type Task, titleOf } from './graph';
import { t } from '../words/t';

export interface Issue {
  /** The task; none when it is about the workflow. */
  task?: string | undefined;
  field?: string | undefined;
  message: string;
}

const FIELDS: Record<string, string> = { context: 'reads', agent: 'role' };

export function check(graph: Graph): Issue[] {
  const names = grouped(graph.tasks, ({ name }) => name);
  const waiting = circular(graph);
  return [
    ...workflowIssues(graph),
    ...graph.tasks.flatMap((task) =>
      taskIssues(graph, task, { isShared: (names.get(task.name)?.length ?? 0) > 1, isCircular: waiting.has(task.id) }),
    ),
  ];
}

function workflowIssues(graph: Graph): Issue[] {
  const found: Issue[] = [];
  if (!graph.name.trim()) found.push({ field: 'name', message: t('Give the workflow a name') });
  if (graph.tasks.length === 0) found.push({ message: t('Add a task: a workflow has at least one') });
  return found;
}

function taskIssues(
  graph: Graph,
  task: Task,
  { isShared, isCircular }: { isShared: boolean; isCircular: boolean },
): Issue[] {
  const found: Issue[] = [];
  const say = (field: string, message: string): unknown => found.push({ task: task.id, field, message });
  if (!task.description.trim()) say('description', t('Say what to do'));
  if (task.name && isShared) say('name', t("Another task is called '{name}' too", { name: task.name }));
  if (isCircular) say('reads', t('It waits for itself: {value}', { value: circleText(graph, task.id) }));
  if (task.maxIterations && !(Number(task.maxIterations) > 0)) say('maxIterations', t('A whole number above 0'));
  const schema = parsedSchema(task.outputSchema);
  if (schema.problem) say('outputSchema', t('This is not JSON: {problem}', { problem: schema.problem }));
  if ((task.goal || task.background || task.mayDelegate) && !task.role.trim()) say('role', t('An agent needs a role'));
  return found;
}

/** The way from a task back to itself, in names. */
function circleText(graph: Graph, id: string): string {
  const path = pathBack(graph, id, id, new Set()) ?? [id];
  return [...path, id].map((each) => titleOf(graph, each)).join(' ← ');
}

function pathBack(graph: Graph, at: string, to: string, seen: Set<string>): string[] | undefined {
  seen.add(at);
  for (const before of graph.tasks.find(({ id }) => id === at)?.reads ?? []) {
    if (before === to) return [at];
    const rest = seen.has(before) ? undefined : pathBack(graph, before, to, seen);
    if (rest) return [at, ...rest];
  }
  return undefined;
}

/** The server's mistakes as issues of their tasks. A missing input is none: it may come with the run. */
export function toIssues(graph: Graph, mistakes: readonly Mistake[]): Issue[] {
  return mistakes
    .filter(({ error }) => error !== 'MISSING_INPUT')
    .map(({ place, message }) => {
      const [, number, part = ''] = /^groups\[(\d+)\]\.?(.*)$/.exec(place) ?? [];
      const group = number === undefined ? undefined : graph.groups[Number(number)];
      if (group) return { task: group.tasks[0], field: `group.${/^\w*/.exec(part)?.[0] ?? ''}`, message };
      const [, index, path = ''] = /^tasks\[(\d+)\]\.?(.*)$/.exec(place) ?? [];
      const field = /^\w+/.exec(path)?.[0];
      const task = index === undefined ? undefined : graph.tasks[Number(index)]?.id;
      return {
        task,
        field: field === undefined ? (task ? undefined : place || undefined) : (FIELDS[field] ?? field),
        message,
      };
    });
}

/** All issues; one found here replaces the server's of the same field. */
export function mergeIssues(here: readonly Issue[], there: readonly Issue[]): Issue[] {
  return [
    ...here,
    ...there.filter(
      (one) => !here.some((other) => other.task === one.task && (other.field === one.field || one.field === undefined)),
    ),
  ];
}
