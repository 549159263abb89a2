// The groups of a workflow: tasks that are skipped, repeated or fanned out together.

import { type Graph, type Group, groupOf } from './graph';
import { t } from '../words/t';

const BLANK: Omit<Group, 'name' | 'tasks'> = {
  when: '',
  forEach: '',
  maxItems: '',
  maxParallel: '',
  repeatUntil: '',
  maxRounds: '',
  onMaxRounds: '',
};

export const blankGroup = (name: string, tasks: string[]): Group => ({ ...BLANK, name, tasks });

/** The reason these tasks cannot become a group, if there is one. */
export function groupRefusal(graph: Graph, ids: readonly string[]): string | undefined {
  const known = ids.map((id) => groupOf(graph, id)).find(Boolean);
  return known && t("A task is in one group only, and '{name}' has one of these", { name: known.name });
}

/** Makes a group of tasks, in their order in the workflow. */
export function addGroup(graph: Graph, ids: readonly string[]): Graph {
  const taken = new Set([...graph.tasks, ...graph.groups].map(({ name }) => name));
  let name = 'group';
  for (let number = 2; taken.has(name); number += 1) name = t('group {number}', { number });
  const tasks = graph.tasks.filter(({ id }) => ids.includes(id)).map(({ id }) => id);
  return { ...graph, groups: [...graph.groups, blankGroup(name, tasks)] };
}

/** Changes the group that has this task. */
export function changeGroup(graph: Graph, task: string, fields: Partial<Group>): Graph {
  const known = groupOf(graph, task);
  return { ...graph, groups: graph.groups.map((group) => (group === known ? { ...group, ...fields } : group)) };
}

/** Takes the group that has this task away; its tasks stay. */
export function dissolve(graph: Graph, task: string): Graph {
  const known = groupOf(graph, task);
  return { ...graph, groups: graph.groups.filter((group) => group !== known) };
}

/** The group of exactly these tasks. */
export function groupOfAll(graph: Graph, ids: readonly string[]): Group | undefined {
  return graph.groups.find(({ tasks }) => tasks.length === ids.length && tasks.every((id) => ids.includes(id)));
}
