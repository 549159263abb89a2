// The current step of a run, or the reason it waits, in one line.

import type { RunDetail, WaitingFor } from '../api/types';
import type { Conversation, RunState, Tone } from './state';
import { breachText, errorText, stopText } from './words';

export interface Activity {
  text: string;
  tone: Tone;
  /** The time of its end, or of the next attempt. */
  until?: string;
  /** The time since which it waits. */
  since?: string;
  /** The model it waits for, and the attempt it is at, from 1. */
  model?: string;
  attempt?: number;
  reviewId?: string;
  taskIndex?: number;
}

/** The reasons to wait that only the server knows. */
const WAITS: Record<WaitingFor, string> = {
  queue: 'waits in the queue',
  resume: 'is paused',
  model: 'waits for a free slot or the rate limit of its model',
  lock: 'waits for a lock another call holds',
  retry: 'waits before it tries again',
  review: 'waits for a review',
  approval: 'waits for permission to call a tool',
  storage: 'waits for room on the disk',
};

export function runActivity(run: RunState, detail?: RunDetail): Activity {
  if (run.endedAt) return ended(run);
  if (run.cancel && run.status === 'RUNNING') return { text: `Stops ${stopText(run.cancel)}`, tone: 'warn' };
  if (run.status === 'ACCEPTED') return queued(detail?.queuePosition);
  const active = [...run.conversations.values()].filter((conversation) => conversation.phase.kind !== 'over');
  const review = [...run.reviews.values()][0];
  if (run.paused)
    return { text: active.some(isBusy) ? 'Pausing: lets what is under way finish' : 'Paused', tone: 'warn' };
  const busy = active.filter(isBusy);
  if (busy.length === 0 && review) {
    const name = review.taskName ?? 'A task';
    const text =
      review.timing === 'DURING_EXECUTION' ? `${name} asks a person` : `Waits for a person to review ${name}`;
    return {
      text,
      since: review.createdAt,
      tone: 'warn',
      reviewId: review.reviewId,
      taskIndex: review.taskIndex,
      ...(review.expiresAt ? { until: review.expiresAt } : {}),
    };
  }
  const failed = active.find(({ phase }) => phase.kind === 'retrying');
  if (busy.length === 0 && failed?.phase.kind === 'retrying') {
    const { model, message, at } = failed.phase;
    return {
      text: `${model ?? 'The model'} failed (${message}); tries again`,
      tone: 'warn',
      until: at,
      taskIndex: failed.taskIndex,
      ...(model ? { model, attempt: attemptOf(failed) + 1 } : {}),
    };
  }
  if (busy.length === 0 && detail?.waitingFor) return { text: `The run ${WAITS[detail.waitingFor]}`, tone: 'warn' };
  const first = deepest(busy.length > 0 ? busy : active);
  if (!first) return { text: 'Decides what comes next', tone: 'plain' };
  const tasks = new Set((busy.length > 0 ? busy : active).map((conversation) => conversation.taskIndex));
  const more = tasks.size > 1 ? `, and ${tasks.size - 1} more` : '';
  const name = run.tasks[first.taskIndex - 1]?.name ?? first.title;
  const { phase } = first;
  return {
    text: `${name} ${activityText(first)}${more}`,
    tone: 'plain',
    taskIndex: first.taskIndex,
    ...(phase.kind === 'over' ? {} : { since: phase.since }),
    ...(phase.kind === 'asking' ? { model: phase.model, attempt: attemptOf(first) } : {}),
  };
}

/** The attempt of the model call under way, from 1. */
function attemptOf({ items }: Conversation): number {
  const round = items.findLast((item) => item.kind === 'round');
  return (round?.failures.filter(({ retriedAt }) => retriedAt !== undefined).length ?? 0) + 1;
}

/** The current step of a conversation. */
export function activityText(conversation: Conversation): string {
  const { phase } = conversation;
  switch (phase.kind) {
    case 'starting':
      return 'waits for its first model call';
    case 'asking':
      return `waits for ${phase.model} to answer`;
    case 'answering':
      return `is being answered by ${phase.model}`;
    case 'tools':
      return phase.running > 1 ? `runs ${phase.running} tools` : `runs ${phase.last}`;
    case 'retrying':
      return `tries ${phase.model ?? 'its model'} again soon`;
    case 'between':
      return 'waits for its next model call';
    case 'reviewing':
      return 'waits for a review';
    case 'over':
      return 'is over';
  }
}

function isBusy({ phase }: Conversation): boolean {
  return phase.kind === 'asking' || phase.kind === 'answering' || phase.kind === 'tools';
}

function deepest(conversations: Conversation[]): Conversation | undefined {
  return conversations.toSorted((one, other) => one.id.split('.').length - other.id.split('.').length)[0];
}

function queued(position: number | undefined): Activity {
  const ahead = position === undefined ? '' : position === 0 ? ', next to start' : `, ${position} ahead of it`;
  return { text: `Waits in the queue${ahead}`, tone: 'warn' };
}

function doneText({ tasks }: RunState): string {
  const declared = tasks.filter((task) => !task.isManager);
  const done = declared.filter(({ status }) => status === 'COMPLETED').length;
  if (done < declared.length) return `Ended with ${done} of ${declared.length} tasks done`;
  return done === 1 ? 'Its task is done' : `All ${done} tasks are done`;
}

function ended(run: RunState): Activity {
  switch (run.status) {
    case 'CANCELLED':
      return { text: 'Cancelled; outputs of finished tasks are kept', tone: 'warn' };
    case 'FAILED':
      return { text: run.breach ? breachText(run.breach) : errorText(run.error ?? 'Failed'), tone: 'bad' };
    default:
      return run.exitReason === 'USER_EXIT_EARLY'
        ? { text: 'Ended early by a reviewer', tone: 'good' }
        : { text: doneText(run), tone: 'good' };
  }
}
