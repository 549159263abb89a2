// The manager of a hierarchical run, which hands the declared tasks to workers.

import type { RunDraft } from './draft';
import { taskNumber } from './ids';
import type { Task } from './state';

interface TaskFrame {
  turnId: string;
  agentRole: string;
  taskName?: string | null;
}

/**
 * The task a frame is about. No frame names the manager: `run_accepted` lists the declared tasks alone, and the
 * manager's own frames say `taskIndex: 1`. Only its conversation tells, which is numbered after the declared tasks.
 * A field `manager: true` in `task_started` and `llm_iteration_started` would say it.
 */
export function taskOf(draft: RunDraft, { turnId, agentRole, taskName }: TaskFrame): Task | undefined {
  const known = draft.task(taskNumber(turnId));
  if (known || draft.run.workflow !== 'HIERARCHICAL') return known;
  return draft.addTask({
    index: draft.run.tasks.length + 1,
    name: taskName ?? agentRole,
    role: agentRole,
    context: [],
    status: 'RUNNING',
    tokens: 0,
    toolCalls: 0,
    isManager: true,
  });
}

/** The declared task a worker of this role does. */
export function workerTask(draft: RunDraft, role: string): Task | undefined {
  if (draft.run.workflow !== 'HIERARCHICAL') return undefined;
  return draft.task(draft.run.tasks.find((task) => task.role === role && !task.isManager)?.index ?? 0);
}
