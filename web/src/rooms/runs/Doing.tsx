import type { RunRow, WaitingFor } from '../../api/types';
import { useOpenReviews } from '../../review/useHeld';
import { shortError } from '../../run/words';
import { preview } from '../../ui/format';
import { Duration } from '../../ui/Time';
import css from './Runs.module.css';
import { t } from '../../words/t';

const WAITS: Record<WaitingFor, string> = {
  queue: t('in the queue'),
  resume: t('paused'),
  model: t('waits for its model'),
  lock: t('waits for a lock'),
  retry: t('tries again'),
  review: t('waits for a review'),
  approval: t('waits for permission'),
  storage: t('waits for room on the disk'),
};

/** The state of a run in the list: its work, what it waits for and since when, the reason of its failure, or its output. */
export function Doing({ run }: { run: RunRow }) {
  const asks = useAsks(run);
  if (run.error)
    return (
      <span className={css.bad} title={run.error}>
        {shortError(run.error)}
      </span>
    );
  if (run.durationMs !== null)
    return run.outputPreview ? <span title={run.outputPreview}>{preview(run.outputPreview)}</span> : null;
  const position =
    run.queuePosition === undefined
      ? ''
      : run.queuePosition === 0
        ? t(', next')
        : t(', {queuePosition} ahead', { queuePosition: run.queuePosition });
  const wait = run.waitingFor ? (
    <span className={css.warn}>
      {asks ? t('waits for an answer') : `${WAITS[run.waitingFor]}${position}`}
      {run.waitingSince ? (
        <>
          , <Duration from={run.waitingSince} />
        </>
      ) : null}
    </span>
  ) : null;
  if (wait && !run.currentTask) return wait;
  return (
    <>
      {wait ? <>{wait} · </> : null}
      {run.currentTask?.name}
    </>
  );
}

/** Whether a run waits for the answer to a question, which is an open review of another kind. */
function useAsks({ runId, waitingFor }: RunRow): boolean {
  const { reviews } = useOpenReviews();
  if (waitingFor !== 'review') return false;
  return reviews?.some((review) => review.runId === runId && review.timing === 'DURING_EXECUTION') ?? false;
}
