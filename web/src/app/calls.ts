// What people are called back for: reviews, approvals, failures and ends. Each is told once, when it was not there before.

import type { Approval, Review, RunRow } from '../api/types';
import { errorText } from '../run/words';
import { shortId } from '../ui/format';
import type { Notice } from './notices';
import { t } from '../words/t';

export interface Waiting {
  reviews: readonly Review[];
  approvals: readonly Approval[];
  runs: readonly RunRow[];
}

const isEnded = ({ durationMs }: RunRow): boolean => durationMs !== null;

/** The notices for what is new since `before`. Runs that were not seen at work are no news. */
export function news(before: Waiting, after: Waiting): Notice[] {
  const known = new Set([
    ...before.reviews.map(({ reviewId }) => reviewId),
    ...before.approvals.map(({ approval_id }) => approval_id),
  ]);
  const atWork = new Set(before.runs.filter((run) => !isEnded(run)).map(({ runId }) => runId));
  return [
    ...after.reviews.filter(({ reviewId }) => !known.has(reviewId)).map(reviewNotice),
    ...after.approvals.filter(({ approval_id }) => !known.has(approval_id)).map(approvalNotice),
    ...after.runs.filter((run) => isEnded(run) && atWork.has(run.runId)).map(runNotice),
  ];
}

function reviewNotice({ reviewId, timing, taskName, prompt, taskOutput }: Review): Notice {
  const isQuestion = timing === 'DURING_EXECUTION';
  return {
    tag: reviewId,
    title: isQuestion ? t('{taskName} asks you', { taskName }) : t('{taskName} waits for your review', { taskName }),
    body: (prompt ?? taskOutput).slice(0, 140),
    to: `/reviews/${reviewId}`,
  };
}

function approvalNotice({ approval_id, tool_name, message, thread_id }: Approval): Notice {
  return {
    tag: approval_id,
    title: t('May {tool_name} be called?', { tool_name }),
    body: message,
    to: `/chat/${thread_id}`,
  };
}

function runNotice({ runId, status, ensemble, error, title, outputPreview }: RunRow): Notice {
  const name = title || ensemble || t('run {id}', { id: shortId(runId) });
  const ends: Partial<Record<RunRow['status'], string>> = { COMPLETED: t('is done'), CANCELLED: t('was cancelled') };
  return {
    tag: runId,
    title: `${name} ${ends[status] ?? t('failed')}`,
    body: error ? errorText(error) : (outputPreview ?? ''),
    to: status === 'COMPLETED' ? `/runs/${runId}/outputs` : `/runs/${runId}`,
  };
}
