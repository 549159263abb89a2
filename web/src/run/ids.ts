// The ids of conversations: the number of a task, then a round and a call for every level below it, such as `2.0.1`.

/** The number of the task a conversation belongs to, from 1. */
export function taskNumber(conversationId: string): number {
  return Number(conversationId.split('.')[0]);
}

/** The conversation that made the call of this id; none for a task. */
export function parentId(id: string): string | undefined {
  return id.split('.').slice(0, -2).join('.') || undefined;
}
