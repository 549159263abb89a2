// One line about an event, and the tone it is shown in.

import type { StoredFrame } from '../../../run/frame';
import type { RunState } from '../../../run/state';
import { breachText, cutText, evaluatedText, shortError } from '../../../run/words';
import { taskOfEvent } from './match';
import { t } from '../../../words/t';

/** The task an event belongs to, and the conversation below it where it has one of its own. */
export function ownerText(run: RunState, frame: StoredFrame): string {
  const turnId = 'turnId' in frame ? (frame.turnId ?? '') : 'delegationId' in frame ? frame.delegationId : '';
  const conversation = run.conversations.get(turnId);
  const task = run.tasks[taskOfEvent(frame) - 1]?.name ?? conversation?.title ?? '';
  return conversation?.parent ? `${task} › ${conversation.title}` : task;
}

/** The most telling fields of an event, in one line. */
export function aboutText(frame: StoredFrame): string {
  switch (frame.type) {
    case 'run_accepted':
      return t('{totalTasks} tasks, {value}', { totalTasks: frame.totalTasks, value: frame.workflow.toLowerCase() });
    case 'run_adopted':
      return frame.epoch > 1 ? t('after a restart') : '';
    case 'llm_iteration_started':
      return t('round {value}, {model}, {totalMessageCount} messages', {
        value: frame.iterationIndex + 1,
        model: frame.model,
        totalMessageCount: frame.totalMessageCount,
      });
    case 'llm_iteration_completed':
      return (
        frame.responseText?.slice(0, 200) ??
        t('asks for {value}', { value: frame.toolRequests?.map(({ name }) => name).join(', ') ?? '' })
      );
    case 'metrics_snapshot':
      return t('{inputTokens} in, {outputTokens} out', {
        inputTokens: frame.inputTokens,
        outputTokens: frame.outputTokens,
      });
    case 'model_failed':
      return shortError(frame.message);
    case 'model_retried':
      return t('attempt {attempt}', { attempt: frame.attempt });
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
      return shortError(frame.reason);
    case 'review_requested':
      return frame.timing.toLowerCase().replaceAll('_', ' ');
    case 'review_decided':
      return t('{decision} by {by}', { decision: frame.decision, by: frame.by });
    case 'directive_active':
      return `${frame.from}: ${frame.content}`;
    case 'model_switched':
      return `${frame.previousModel} → ${frame.model}`;
    case 'cancel_requested':
      return t('{mode} by {by}', { mode: frame.mode, by: frame.by });
    case 'run_paused':
    case 'run_resumed':
    case 'budget_raised':
      return t('by {by}', { by: frame.by });
    case 'budget_exceeded':
      return breachText(frame);
    case 'answer_truncated':
      return cutText(frame.then, frame.inCall ?? false);
    case 'answer_empty':
      return frame.then === 'continue' ? t('asked again') : t('given up');
    case 'expression_evaluated':
      return evaluatedText(frame);
    case 'output_rejected':
      return frame.violations.join('; ');
    case 'ensemble_completed':
      return frame.error ? shortError(frame.error) : frame.exitReason;
    case 'run_forked':
      return (frame.editedOutputs ?? [])
        .map(({ taskName, by }) => t('output of {names} edited by {by}', { names: taskName, by }))
        .join('; ');
    // Their type says it all.
    case 'ensemble_started':
    case 'task_started':
    case 'task_input':
    case 'belt_composed':
    case 'chore_started':
    case 'reflection_started':
    case 'history_dropped':
    case 'last_round':
    case 'finish_demanded':
    case 'loop_noticed':
    case 'delegation_completed':
    case 'call_charged':
    case 'review_timed_out':
    case 'review_closed':
    case 'directive_delivered':
      return '';
    default:
      // A frame of a newer server.
      frame satisfies never;
      return '';
  }
}

type EventTone = 'bad' | 'warn' | 'good' | 'tool' | 'running' | 'plain';

const TONES: Record<StoredFrame['type'], EventTone> = {
  run_accepted: 'plain',
  run_forked: 'plain',
  run_adopted: 'plain',
  ensemble_started: 'plain',
  task_started: 'plain',
  task_input: 'plain',
  belt_composed: 'plain',
  expression_evaluated: 'plain',
  chore_started: 'plain',
  reflection_started: 'plain',
  llm_iteration_started: 'running',
  model_retried: 'warn',
  llm_iteration_completed: 'running',
  metrics_snapshot: 'plain',
  model_failed: 'bad',
  history_dropped: 'warn',
  output_rejected: 'bad',
  answer_truncated: 'warn',
  answer_empty: 'warn',
  last_round: 'warn',
  finish_demanded: 'plain',
  loop_noticed: 'warn',
  tool_dispatched: 'tool',
  subtask_started: 'plain',
  delegation_started: 'plain',
  delegation_completed: 'good',
  delegation_failed: 'bad',
  call_charged: 'plain',
  tool_called: 'tool',
  review_requested: 'warn',
  review_decided: 'warn',
  review_timed_out: 'warn',
  review_closed: 'warn',
  task_completed: 'good',
  task_failed: 'bad',
  task_skipped: 'warn',
  directive_active: 'plain',
  directive_delivered: 'plain',
  model_switched: 'plain',
  cancel_requested: 'warn',
  run_paused: 'warn',
  run_resumed: 'plain',
  budget_raised: 'plain',
  budget_exceeded: 'bad',
  file_changed: 'plain',
  ensemble_completed: 'good',
};

/** Every type of event there is. */
export const TYPES = Object.keys(TONES).toSorted();

export function toneOf({ type }: StoredFrame): EventTone | undefined {
  return TONES[type] === 'plain' ? undefined : TONES[type];
}
