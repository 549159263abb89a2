// Tasks that are done for several items, or in several rounds.

import type { Conversation, RunState, Task } from './state';

/** The conversation of a task; of one that is done several times, the one under way or the last. */
export function conversationOf(run: RunState, { index, instances = [] }: Task): Conversation | undefined {
  const last = instances.findLast(({ status }) => status === 'RUNNING' || status === 'WAITING') ?? instances.at(-1);
  return run.conversations.get(last?.id ?? String(index));
}

/** The cost of a task, where it is known: of one that is done several times, of all of them together. */
export function costOf(run: RunState, { index, instances = [] }: Task): number | undefined {
  const ids = instances.length > 0 ? instances.map(({ id }) => id) : [String(index)];
  const known = ids.flatMap((id) => run.conversations.get(id)?.costUsd ?? []);
  return known.length > 0 ? known.reduce((sum, cost) => sum + cost, 0) : undefined;
}
