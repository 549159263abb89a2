// What frames do to the tasks of a run, and to what they are for one item or in one round.

import { definedFields } from './defined';
import type { RunDraft } from './draft';
import type { Of } from './frame';
import { isInstance, taskNumber } from './ids';
import { taskOf } from './manager';
import type { Instance, Task } from './state';
import { addNote, endConversation, startConversation } from './steps';
import { instanceName } from './words';
import { t } from '../words/t';

const NOTHING_USED = { tokens: 0, toolCalls: 0 };

export function acceptRun(draft: RunDraft, frame: Of<'run_accepted'>): void {
  const { run } = draft;
  // The server's fold, where this one starts from it, knows this and more.
  if (frame.seq < run.counted) return;
  run.ensemble = frame.ensemble;
  run.workflow = frame.workflow;
  run.acceptedAt = frame.at;
  draft.setTasks(
    frame.tasks.map(({ taskIndex, name, agentRole, context, when, forEach }) =>
      definedFields<Task>({
        index: taskIndex,
        name,
        role: agentRole,
        context,
        when,
        forEach,
        status: 'PENDING',
        tokens: 0,
        toolCalls: 0,
      }),
    ),
  );
  run.groups = frame.groups ?? [];
}

export function startTask(draft: RunDraft, frame: Of<'task_started'>): void {
  const { turnId: id, at, taskDescription: description, item, round } = frame;
  if (isInstance(id)) {
    const task = draft.task(taskNumber(id));
    if (task) Object.assign(task, { status: 'RUNNING', startedAt: task.startedAt ?? at });
    const status = 'RUNNING' as const;
    const began = definedFields<Instance>({ id, item, round, status, description, startedAt: at, ...NOTHING_USED });
    draft.setInstance(taskNumber(id), id, began);
    startConversation(draft, frame, id, instanceName(began));
    return;
  }
  const task = taskOf(draft, frame);
  if (task) Object.assign(task, { status: 'RUNNING', startedAt: at, description });
  startConversation(draft, frame, id, frame.taskName ?? description);
}

/** Puts the outputs that were edited when the run was made in place of those of the run it was made of. */
export function editOutputs(draft: RunDraft, frame: Of<'run_forked'>): void {
  for (const { taskIndex, turnId, output, parsedOutput: parsed, by } of frame.editedOutputs ?? []) {
    const task = draft.task(taskIndex);
    if (task) Object.assign(task, { output, parsed, isCut: undefined, outputEditedBy: by });
    const text = t('{by} edited the output when this run was made', { by });
    draft.conversation(turnId)?.items.push({ kind: 'note', seq: frame.seq, at: frame.at, tone: 'plain', text });
  }
}

export function completeTask(draft: RunDraft, frame: Of<'task_completed'>): void {
  const { at, tokenCount: tokens, toolCallCount: toolCalls, output, parsedOutput: parsed, truncated: isCut } = frame;
  const fields = { status: 'COMPLETED' as const, endedAt: at, tokens, toolCalls, output };
  endTask(draft, frame, fields, { parsed, isCut });
  endConversation(draft, frame.turnId, at);
}

export function failTask(draft: RunDraft, frame: Of<'task_failed'>): void {
  const { at, reason: error, partialOutput: partial } = frame;
  const status = frame.cancelled ? 'CANCELLED' : 'FAILED';
  endTask(draft, frame, { status, endedAt: at, error }, { partial });
  if (frame.cancelled) addNote(draft, frame, 'plain', t('Cancelled'));
  else addNote(draft, frame, 'bad', t('Failed'), error);
  endConversation(draft, frame.turnId, at);
}

export function skipTask(draft: RunDraft, frame: Of<'task_skipped'>): void {
  endTask(draft, frame, { status: 'SKIPPED', endedAt: frame.at, error: frame.reason });
}

/** Fields that may be absent; an absent one is left out. */
type Loose<T> = { [Name in keyof T]?: T[Name] | null | undefined };

/** Ends a task, or what it was for one item or in one round; the task itself ends with the last of them. */
function endTask(
  draft: RunDraft,
  { turnId: id, item, round }: { turnId: string; item?: number; round?: number },
  both: Loose<Instance>,
  own: Loose<Task> = {},
): void {
  const index = taskNumber(id);
  const task = draft.task(index);
  if (!task) return;
  if (!isInstance(id)) Object.assign(task, definedFields({ ...both, ...own }));
  else {
    draft.setInstance(index, id, definedFields({ item, round, ...both }) as Partial<Instance>);
    const used = task.instances ?? [];
    task.tokens = used.reduce((sum, { tokens }) => sum + Math.max(0, tokens), 0);
    task.toolCalls = used.reduce((sum, { toolCalls }) => sum + toolCalls, 0);
  }
}
