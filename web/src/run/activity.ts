// The current step of a run, or the reason it waits, in one line.

import type { RunDetail, WaitingFor } from '../api/types';
import type { Conversation, RunState, Tone } from './state';
import { breachText, errorText, stopText } from './words';
import { t } from '../words/t';

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
  queue: t('waits in the queue'),
  resume: t('is paused'),
  model: t('waits for a free slot or the rate limit of its model'),
  lock: t('waits for a lock another call holds'),
  retry: t('waits before it tries again'),
  review: t('waits for a review'),
  approval: t('waits for permission to call a tool'),
  storage: t('waits for room on the disk'),
};

export function runActivity(run: RunState, detail?: RunDetail): Activity {
  if (run.endedAt) return ended(run);
  if (run.cancel && run.status === 'RUNNING')
    return { text: t('Stops {when}', { when: stopText(run.cancel) }), tone: 'warn' };
  const since = detail?.waitingSince ? { since: detail.waitingSince } : {};
  if (run.status === 'ACCEPTED') return { ...queued(detail?.queuePosition), ...since };
  const active = [...run.conversations.values()].filter((conversation) => conversation.phase.kind !== 'over');
  const review = [...run.reviews.values()][0];
  if (run.paused)
    return active.some(isBusy)
      ? { text: t('Pausing: what has begun is finished first'), tone: 'warn' }
      : { text: t('Paused'), tone: 'warn', ...since };
  const busy = active.filter(isBusy);
  if (busy.length === 0 && review) {
    const name = review.taskName ?? t('A task');
    const text =
      review.timing === 'DURING_EXECUTION'
        ? t('{name} asks a person', { name })
        : t('Waits for a person to review {name}', { name });
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
      // The message of a provider begins with the model, which is named here already.
      text: t('{model} failed ({message}); tries again', {
        model: model ?? t('The model'),
        message: message.replace(/^model `[^`]*`, /, ''),
      }),
      tone: 'warn',
      until: at,
      taskIndex: failed.taskIndex,
      ...(model ? { model, attempt: attemptOf(failed) + 1 } : {}),
    };
  }
  if (busy.length === 0 && detail?.waitingFor)
    return { text: t('The run {waits}', { waits: WAITS[detail.waitingFor] }), tone: 'warn', ...since };
  const first = deepest(busy.length > 0 ? busy : active);
  if (!first) return { text: t('Decides what comes next'), tone: 'plain' };
  const tasks = new Set((busy.length > 0 ? busy : active).map((conversation) => conversation.taskIndex));
  const more = tasks.size > 1 ? t(', and {value} more', { value: tasks.size - 1 }) : '';
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
      return t('waits for its first model call');
    case 'asking':
      return t('waits for {model} to answer', { model: phase.model });
    case 'answering':
      return t('gets an answer from {model}', { model: phase.model });
    case 'tools':
      return phase.running > 1
        ? t('runs {running} tools', { running: phase.running })
        : t('runs {last}', { last: phase.last });
    case 'retrying':
      return t('tries {model} again soon', { model: phase.model ?? t('its model') });
    case 'between':
      return t('waits for its next model call');
    case 'reviewing':
      return t('waits for a review');
    case 'over':
      return t('is over');
  }
}

function isBusy({ phase }: Conversation): boolean {
  return phase.kind === 'asking' || phase.kind === 'answering' || phase.kind === 'tools';
}

function deepest(conversations: Conversation[]): Conversation | undefined {
  return conversations.toSorted((one, other) => one.id.split('.').length - other.id.split('.').length)[0];
}

function queued(position: number | undefined): Activity {
  const ahead =
    position === undefined ? '' : position === 0 ? t(', next to start') : t(', {position} ahead of it', { position });
  return { text: t('Waits in the queue{ahead}', { ahead }), tone: 'warn' };
}

function doneText({ tasks }: RunState): string {
  const declared = tasks.filter((task) => !task.isManager);
  const done = declared.filter(({ status }) => status === 'COMPLETED').length;
  const skipped = declared.filter(({ status }) => status === 'SKIPPED').length;
  if (skipped > 0 && done + skipped === declared.length)
    return t('Done: {done} of {count} tasks, {skipped} skipped', { done, count: declared.length, skipped });
  if (done < declared.length) return t('Ended with {done} of {count} tasks done', { done, count: declared.length });
  return done === 1 ? t('Its task is done') : t('All {done} tasks are done', { done });
}

function ended(run: RunState): Activity {
  switch (run.status) {
    case 'CANCELLED':
      return { text: t('Cancelled; outputs of finished tasks are kept'), tone: 'warn' };
    case 'FAILED':
      return { text: run.breach ? breachText(run.breach) : errorText(run.error ?? t('Failed')), tone: 'bad' };
    default:
      return run.exitReason === 'USER_EXIT_EARLY'
        ? { text: t('Ended early by a reviewer'), tone: 'good' }
        : { text: doneText(run), tone: 'good' };
  }
}
