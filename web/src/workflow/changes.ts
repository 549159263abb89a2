// The differences between two versions, in words. Tasks are matched by their names.

import type { Graph, Task } from './graph';
import { titleOf } from './graph';
import { t } from '../words/t';

const FIELDS: [keyof Task, string][] = [
  ['description', t('description')],
  ['expectedOutput', t('expected output')],
  ['additionalContext', t('further knowledge')],
  ['role', t('agent')],
  ['goal', t('agent')],
  ['background', t('agent')],
  ['mayDelegate', t('agent')],
  ['model', t('model')],
  ['tools', t('tools')],
  ['maxIterations', t('limit of rounds')],
  ['outputSchema', t('output schema')],
  ['review', t('review')],
  ['when', t('condition')],
  ['forEach', t('items')],
  ['maxItems', t('items')],
  ['maxParallel', t('items')],
];

export function changes(before: Graph, after: Graph): string[] {
  const found: string[] = [];
  if (before.name !== after.name)
    found.push(t("called '{name}' instead of '{name2}'", { name: after.name, name2: before.name }));
  if (before.description !== after.description) found.push(t('another description'));
  const names = (graph: Graph): Map<string, Task> =>
    new Map(graph.tasks.map((task) => [titleOf(graph, task.id), task]));
  const [old, fresh] = [names(before), names(after)];
  const listed = (words: string, all: string[]): unknown =>
    all.length > 0 ? found.push(`${words} ${all.map((name) => `'${name}'`).join(', ')}`) : 0;
  listed(
    t('adds'),
    [...fresh.keys()].filter((name) => !old.has(name)),
  );
  listed(
    t('removes'),
    [...old.keys()].filter((name) => !fresh.has(name)),
  );
  for (const [name, task] of fresh) {
    const known = old.get(name);
    const parts = known ? differences(before, known, after, task) : [];
    if (parts.length > 0) found.push(`'${name}': ${parts.join(', ')}`);
  }
  if (JSON.stringify(before.inputs) !== JSON.stringify(after.inputs)) found.push(t('other defaults for inputs'));
  if (JSON.stringify(groupsOf(before)) !== JSON.stringify(groupsOf(after))) found.push(t('other groups'));
  if (JSON.stringify(before.options) !== JSON.stringify(after.options)) found.push(t('other options'));
  const isMoved = [...fresh].some(
    ([name, { at }]) => old.get(name) && (old.get(name)?.at.x !== at.x || old.get(name)?.at.y !== at.y),
  );
  if (found.length === 0 && isMoved) found.push(t('tasks moved on the canvas'));
  return found;
}

const groupsOf = (graph: Graph): unknown[] =>
  graph.groups.map((group) => ({ ...group, tasks: group.tasks.map((id) => titleOf(graph, id)) }));

function differences(before: Graph, old: Task, after: Graph, task: Task): string[] {
  const words = new Set(
    FIELDS.filter(([field]) => JSON.stringify(old[field]) !== JSON.stringify(task[field])).map(([, word]) => word),
  );
  const reads = (graph: Graph, { reads: ids }: Task): string =>
    ids
      .map((id) => titleOf(graph, id))
      .toSorted()
      .join();
  if (reads(before, old) !== reads(after, task)) words.add(t('what it reads'));
  return [...words];
}
