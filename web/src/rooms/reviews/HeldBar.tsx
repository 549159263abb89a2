import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { type Held, HOLD_MS } from '../../review/held';
import { decisions, useHeld } from '../../review/useHeld';
import { shortId } from '../../ui/format';
import { REVIEW } from '../../ui/ReviewButton';
import { useKeys } from '../../ui/useKeys';
import { useNow } from '../../ui/useNow';
import css from './HeldBar.module.css';
import { t } from '../../words/t';

/** Decisions that can still be taken back, on every page. */
export function HeldBar() {
  const bar = useRef<HTMLElement>(null);
  const { held, sent } = useHeld();
  const client = useQueryClient();
  const undo = useUndo();
  const isAny = held.length > 0;
  useEffect(() => {
    if (sent.length > 0) void client.invalidateQueries();
  }, [client, sent]);
  useEffect(() => {
    if (!isAny) return undefined;
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isAny]);
  const last = held.at(-1)?.review.reviewId;
  useKeys(bar, last === undefined ? {} : { z: () => undo(last) });
  return (
    <>
      <section className={css.bar} ref={bar} aria-label={t('Decisions not sent yet')} data-any={isAny || undefined}>
        {held.map((each) => (
          <Entry key={each.review.reviewId} held={each} isLast={each.review.reviewId === last} undo={undo} />
        ))}
      </section>
      <span className={css.status} role="status">
        {held
          .map((each) =>
            t('{what}, unless you undo it within {seconds} seconds.', {
              what: heldText(each),
              seconds: HOLD_MS / 1_000,
            }),
          )
          .join(' ')}
      </span>
    </>
  );
}

function Entry({ held, isLast, undo }: { held: Held; isLast: boolean; undo: (reviewId: string) => void }) {
  const seconds = Math.ceil((held.sendsAt - useNow()) / 1_000);
  const { reviewId, runId } = held.review;
  return (
    <div className={css.entry}>
      <div>
        <strong>{heldText(held)}</strong>
        <span>
          {t('run {id}', { id: shortId(runId) })} ·{' '}
          {seconds > 0 ? t('sent in {seconds} s', { seconds }) : t('is being sent')}
        </span>
      </div>
      <Button size="xs" variant="default" disabled={seconds <= 0} onClick={() => undo(reviewId)}>
        {t('Undo')}
        {isLast ? <kbd>Z</kbd> : null}
      </Button>
    </div>
  );
}

/** Takes a decision back and shows its review again, as it was, where the person is. */
function useUndo(): (reviewId: string) => void {
  const navigate = useNavigate();
  const { pathname, search } = useLocation();
  return (reviewId) => {
    if (!decisions.undo(reviewId)) return;
    const opened = new URLSearchParams(search);
    opened.set(REVIEW, reviewId);
    void navigate(pathname.startsWith('/reviews') ? `/reviews/${reviewId}` : { search: opened.toString() }, {
      replace: true,
    });
  };
}

function heldText({ review: { taskName, timing }, decision: { decision } }: Held): string {
  const isQuestion = timing === 'DURING_EXECUTION';
  switch (decision) {
    case 'CONTINUE':
      return isQuestion
        ? t('{taskName} goes on without an answer', { taskName })
        : t('{taskName} is approved', { taskName });
    case 'EDIT':
      return isQuestion
        ? t('{taskName} gets your answer', { taskName })
        : t('{taskName} is approved as edited', { taskName });
    case 'REJECT':
      return t('{taskName} is rejected and runs again', { taskName });
    case 'EXIT_EARLY':
      return t('The run ends at {taskName}', { taskName });
  }
}
