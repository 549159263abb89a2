// One line about an event, and how bad it is.

import type { StoredFrame } from '../../../run/frame';
import type { RunState } from '../../../run/state';
import { taskNumber } from '../../../run/ids';
import { cutText } from '../../../run/words';

/** The task an event belongs to, and the conversation below it where it has one of its own. */
export function ownerText(run: RunState, frame: StoredFrame): string {
  const turnId = 'turnId' in frame ? frame.turnId : 'delegationId' in frame ? frame.delegationId : '';
  const conversation = run.conversations.get(turnId);
  const index = turnId ? taskNumber(turnId) : 'taskIndex' in frame ? frame.taskIndex : 0;
  const task = run.tasks[index - 1]?.name ?? conversation?.title ?? '';
  return conversation?.parent ? `${task} › ${conversation.title}` : task;
}

export function about(frame: StoredFrame): string {
  switch (frame.type) {
    case 'run_accepted':
      return `${frame.totalTasks} tasks, ${frame.workflow.toLowerCase()}`;
    case 'run_adopted':
      return frame.epoch > 1 ? `by owner ${frame.epoch}, after a restart` : '';
    case 'llm_iteration_started':
      return `round ${frame.iterationIndex + 1}, ${frame.model}, ${frame.totalMessageCount} messages`;
    case 'llm_iteration_completed':
      return (
        frame.responseText?.slice(0, 200) ?? `asks for ${frame.toolRequests?.map(({ name }) => name).join(', ') ?? ''}`
      );
    case 'metrics_snapshot':
      return `${frame.inputTokens} in, ${frame.outputTokens} out`;
    case 'model_failed':
      return frame.message;
    case 'model_retried':
      return `attempt ${frame.attempt}`;
    case 'tool_dispatched':
      return `${frame.toolName} ${frame.toolArguments.slice(0, 200)}`;
    case 'tool_called':
      return `${frame.toolName} → ${frame.toolResult.slice(0, 200)}`;
    case 'file_changed':
      return `${frame.changeType.toLowerCase()} ${frame.filePath}, +${frame.linesAdded} −${frame.linesRemoved}`;
    case 'subtask_started':
      return frame.title;
    case 'delegation_started':
      return `${frame.workerRole}: ${frame.taskDescription}`;
    case 'task_completed':
      return frame.output?.slice(0, 200) ?? '';
    case 'task_failed':
    case 'task_skipped':
    case 'delegation_failed':
      return frame.reason;
    case 'review_requested':
      return frame.timing.toLowerCase().replaceAll('_', ' ');
    case 'review_decided':
      return `${frame.decision} by ${frame.by}`;
    case 'directive_active':
      return `${frame.from}: ${frame.content}`;
    case 'model_switched':
      return `${frame.previousModel} → ${frame.model}`;
    case 'cancel_requested':
      return `${frame.mode} by ${frame.by}`;
    case 'run_paused':
    case 'run_resumed':
      return `by ${frame.by}`;
    case 'budget_exceeded':
      return `${frame.reason}: ${frame.observed} of ${frame.limit}`;
    case 'answer_truncated':
      return cutText(frame.then, frame.inCall ?? false);
    case 'answer_empty':
      return frame.then === 'continue' ? 'asked again' : 'given up';
    case 'output_rejected':
      return frame.violations.join('; ');
    case 'ensemble_completed':
      return frame.error ?? frame.exitReason;
    default:
      return '';
  }
}

export function toneOf({ type }: StoredFrame): string | undefined {
  if (/failed|exceeded|rejected/.test(type)) return 'bad';
  if (/review|cancel|paused|retried|skipped|dropped|noticed|last_round|answer_/.test(type)) return 'warn';
  if (type.endsWith('_completed') && !type.startsWith('llm')) return 'good';
  if (type.startsWith('tool')) return 'tool';
  return type.startsWith('llm') ? 'running' : undefined;
}
