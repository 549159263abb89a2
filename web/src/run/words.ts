// The texts people read for the words of frames.

import { duration } from '../ui/format';
import type { Of } from './frame';

const CHORES: Record<string, string> = {
  recall: 'Recalls what earlier runs remembered',
  guard_input: 'Checks the task before a model sees it',
  handle: 'Does the task without a model',
  guard_output: 'Checks the output',
  remember: 'Remembers the output for later runs',
};

/** A reply that ended at the output limit, and what follows. */
export function cutText(then: 'continue' | 'fail' | 'accept', inCall: boolean): string {
  const cut = inCall ? 'The reply was cut inside a tool call' : 'The answer was cut at the output limit';
  if (then === 'accept') return `${cut}; taken as it is`;
  if (then === 'fail') return cut;
  return inCall ? `${cut}; asked again` : `${cut}; asked to go on`;
}

/** The run another was made of. */
export function forkText({ forkedFrom, retryOf }: Pick<Of<'run_forked'>, 'forkedFrom' | 'retryOf'>): string {
  if (forkedFrom) return `Forked from ${forkedFrom.runId} at its event ${forkedFrom.seq}`;
  return `Retries ${retryOf ?? 'a run'}`;
}

export function choreText(chore: string): string {
  return CHORES[chore] ?? `Does a chore: ${chore.replaceAll('_', ' ')}`;
}

export function decisionText(decision: string, by: string): string {
  const words: Record<string, string> = {
    CONTINUE: 'approved',
    APPROVE: 'approved',
    EDIT: 'changed the output',
    EXIT_EARLY: 'ended the run here',
    REJECT: 'rejected the output',
  };
  return `${by} ${words[decision] ?? decision.toLowerCase()}`;
}

export function timeoutText(action: string): string {
  return (
    { CONTINUE: 'the run goes on', EXIT_EARLY: 'the run ends early', FAIL: 'the run fails' }[action] ??
    action.toLowerCase()
  );
}

export function stopText(mode: string): string {
  return (
    { after_task: 'after the tasks under way', after_iteration: 'after the model calls under way', now: 'at once' }[
      mode
    ] ?? mode
  );
}

const RESOURCES: Record<string, string> = {
  tokens: 'tokens',
  llm_calls: 'model calls',
  tool_calls: 'tool calls',
  subtasks: 'subtasks',
};

/** The limit of a budget that is used up. */
export function breachText({ reason, limit, observed }: { reason: string; limit: number; observed: number }): string {
  if (reason === 'wall_clock') return `The budget is used up: ${duration(observed)} of ${duration(limit)}`;
  const amount = (value: number): string => (reason === 'cost' ? `$${value}` : value.toLocaleString('en'));
  const what = reason === 'cost' ? '' : ` ${RESOURCES[reason] ?? reason}`;
  // `observed` is the amount after the next step, which was not taken.
  return `The budget is used up: ${amount(limit)}${what} allowed, and going on would make ${amount(observed)}`;
}

/** A run's error, where it is a code of ours. */
export function errorText(error: string): string {
  return error === 'BUDGET_EXCEEDED' ? 'The budget is used up' : error;
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
  const words = message ?? status?.toLowerCase().replaceAll('_', ' ') ?? 'under way';
  return percentComplete === undefined ? words : `${words}, ${percentComplete} %`;
}
