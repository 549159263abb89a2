// The texts people read for the words of frames.

import { duration } from '../ui/format';
import type { Of } from './frame';
import { locale, t } from '../words/t';

const CHORES: Record<string, string> = {
  recall: t('Recalls what earlier runs remembered'),
  guard_input: t('Checks the task before a model sees it'),
  handle: t('Does the task without a model'),
  guard_output: t('Checks the output'),
  remember: t('Remembers the output for later runs'),
};

/** A task for one item or in one round, counted from 1 as people do. */
export function instanceName({ item, round }: { item?: number; round?: number }): string {
  return [
    ...(round === undefined ? [] : [t('round {round}', { round: round + 1 })]),
    ...(item === undefined ? [] : [t('item {item}', { item: item + 1 })]),
  ].join(', ');
}

/** The value of a condition or of a list, in words. */
export function evaluatedText({ group, taskName, round, key, value, error }: Of<'expression_evaluated'>): string {
  const owner = `${group ?? taskName ?? ''}${round === undefined ? '' : `, ${t('round {round}', { round: round + 1 })}`}`;
  const told = Array.isArray(value)
    ? t('{count} items', { count: value.length })
    : value === true
      ? t('true')
      : t('false');
  return t('{owner}: {key} is {value}', { owner, key, value: error ?? told });
}

/** A reply that ended at the output limit, and what follows. */
export function cutText(then: 'continue' | 'fail' | 'accept', inCall: boolean): string {
  const cut = inCall ? t('The reply was cut inside a tool call') : t('The answer was cut at the output limit');
  if (then === 'accept') return t('{cut}; taken as it is', { cut });
  if (then === 'fail') return cut;
  return inCall ? t('{cut}; asked again', { cut }) : t('{cut}; asked to go on', { cut });
}

/** The run another was made of. */
export function forkText({ forkedFrom, retryOf }: Pick<Of<'run_forked'>, 'forkedFrom' | 'retryOf'>): string {
  if (forkedFrom) return t('Forked from {runId} at its event {seq}', { runId: forkedFrom.runId, seq: forkedFrom.seq });
  return t('Retries {run}', { run: retryOf ?? t('a run') });
}

export function choreText(chore: string): string {
  return CHORES[chore] ?? t('Does a step without a model: {chore}', { chore: chore.replaceAll('_', ' ') });
}

export function decisionText(decision: string, by: string): string {
  const words: Record<string, string> = {
    CONTINUE: t('approved'),
    APPROVE: t('approved'),
    EDIT: t('changed the output'),
    EXIT_EARLY: t('ended the run here'),
    REJECT: t('rejected the output'),
  };
  return `${by} ${words[decision] ?? decision.toLowerCase()}`;
}

export function timeoutText(action: string): string {
  return (
    { CONTINUE: t('the run goes on'), EXIT_EARLY: t('the run ends early'), FAIL: t('the run fails') }[action] ??
    action.toLowerCase()
  );
}

export function stopText(mode: string): string {
  return (
    {
      after_task: t('after the tasks under way'),
      after_iteration: t('after the model calls under way'),
      now: t('at once'),
    }[mode] ?? mode
  );
}

const RESOURCES: Record<string, string> = {
  tokens: t('tokens'),
  llm_calls: t('model calls'),
  tool_calls: t('tool calls'),
  subtasks: t('subtasks'),
};

/** The limit of a budget that is used up. */
export function breachText({ reason, limit, observed }: { reason: string; limit: number; observed: number }): string {
  if (reason === 'wall_clock')
    return t('The budget is used up: {observed} of {limit}', { observed: duration(observed), limit: duration(limit) });
  const amount = (value: number): string => (reason === 'cost' ? `$${value}` : value.toLocaleString(locale()));
  const what = reason === 'cost' ? '' : ` ${RESOURCES[reason] ?? reason}`;
  // `observed` is the amount after the next step, which was not taken.
  return t('The budget is used up: {limit}{what} allowed, and continuing would make it {observed}', {
    limit: amount(limit),
    what,
    observed: amount(observed),
  });
}

/** A run's error, where it is a code of ours. */
export function errorText(error: string): string {
  return error === 'BUDGET_EXCEEDED' ? t('The budget is used up') : error;
}

/** The part of an error before its cause: the model and its address, for which a line has no room. */
const PROVIDER = /^(?:provider error: )?(?:model `[^`]*`, )?(?:https?:\/\/\S+: )?/;

/** A run's or a task's error for one line: the task, where it is named, and the cause. */
export function shortError(error: string): string {
  const text = errorText(error);
  const [begin = '', task] = /^task '(.*?)' failed: /.exec(text) ?? [];
  const cause = text.slice(begin.length).replace(PROVIDER, '');
  return task === undefined ? cause : `${task}: ${cause}`;
}

/** The progress of a call that another program makes. */
export function progressText({
  status,
  message,
  percentComplete,
}: {
  status?: string;
  message?: string;
  percentComplete?: number;
}): string {
  const words = message ?? status?.toLowerCase().replaceAll('_', ' ') ?? t('under way');
  return percentComplete === undefined ? words : `${words}, ${percentComplete} %`;
}
