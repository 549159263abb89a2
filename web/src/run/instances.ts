// Tasks that are done for several items, or in several rounds.

import type { Conversation, RunState, Task } from './state';

/** The conversation of a task; of one that is done several times, the one under way or the last. */
export function conversationOf(run: RunState, { index, instances = [] }: Task): Conversation | undefined {
  const last = instances.findLast(({ status }) => status === 'RUNNING' || status === 'WAITING') ?? instances.at(-1);
  return run.conversations.get(last?.id ?? String(index));
}
