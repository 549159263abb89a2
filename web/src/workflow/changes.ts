// The differences between two versions, in words. Tasks are matched by their names.

import type { Graph, Task } from './graph';
import { titleOf } from './graph';

const FIELDS: [keyof Task, string][] = [
  ['description', 'description'],
  ['expectedOutput', 'expected output'],
  ['additionalContext', 'further knowledge'],
  ['role', 'agent'],
  ['goal', 'agent'],
  ['background', 'agent'],
  ['mayDelegate', 'agent'],
  ['model', 'model'],
  ['tools', 'tools'],
  ['maxIterations', 'limit of rounds'],
  ['outputSchema', 'output schema'],
  ['review', 'review'],
];

export function changes(before: Graph, after: Graph): string[] {
  const found: string[] = [];
  if (before.name !== after.name) found.push(`called '${after.name}' instead of '${before.name}'`);
  if (before.description !== after.description) found.push('another description');
  const names = (graph: Graph): Map<string, Task> =>
    new Map(graph.tasks.map((task) => [titleOf(graph, task.id), task]));
  const [old, fresh] = [names(before), names(after)];
  const listed = (words: string, all: string[]): unknown =>
    all.length > 0 ? found.push(`${words} ${all.map((name) => `'${name}'`).join(', ')}`) : 0;
  listed(
    'adds',
    [...fresh.keys()].filter((name) => !old.has(name)),
  );
  listed(
    'removes',
    [...old.keys()].filter((name) => !fresh.has(name)),
  );
  for (const [name, task] of fresh) {
    const known = old.get(name);
    const parts = known ? differences(before, known, after, task) : [];
    if (parts.length > 0) found.push(`'${name}': ${parts.join(', ')}`);
  }
  if (JSON.stringify(before.inputs) !== JSON.stringify(after.inputs)) found.push('other defaults for inputs');
  if (JSON.stringify(before.options) !== JSON.stringify(after.options)) found.push('other options');
  const isMoved = [...fresh].some(
    ([name, { at }]) => old.get(name) && (old.get(name)?.at.x !== at.x || old.get(name)?.at.y !== at.y),
  );
  if (found.length === 0 && isMoved) found.push('tasks moved on the canvas');
  return found;
}

function differences(before: Graph, old: Task, after: Graph, task: Task): string[] {
  const words = new Set(
    FIELDS.filter(([field]) => JSON.stringify(old[field]) !== JSON.stringify(task[field])).map(([, word]) => word),
  );
  const reads = (graph: Graph, { reads: ids }: Task): string =>
    ids
      .map((id) => titleOf(graph, id))
      .toSorted()
      .join();
  if (reads(before, old) !== reads(after, task)) words.add('what it reads');
  return [...words];
}
