// The ids of conversations: the number of a task, then a round and a call for every level below it, such as `2.0.1`.
// An instance of a task says which: `2i7` is done for item 7, `2r1` in round 1 of its group.

/** The number of the task a conversation belongs to, from 1. */
export function taskNumber(conversationId: string): number {
  return Number.parseInt(conversationId, 10);
}

/** The conversation that made the call of this id, the task of an instance; none for a task. */
export function parentId(id: string): string | undefined {
  return id.split('.').slice(0, -2).join('.') || (isInstance(id) ? String(taskNumber(id)) : undefined);
}

/** Whether it is the conversation of a task for one item, or in one round. */
export function isInstance(id: string): boolean {
  return /^\d+(r\d+)?(i\d+)?$/.test(id) && !/^\d+$/.test(id);
}
