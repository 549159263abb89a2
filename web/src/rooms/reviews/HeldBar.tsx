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
      <section className={css.bar} ref={bar} aria-label="Decisions not sent yet" data-any={isAny || undefined}>
        {held.map((each) => (
          <Entry key={each.review.reviewId} held={each} isLast={each.review.reviewId === last} undo={undo} />
        ))}
      </section>
      <span className={css.status} role="status">
        {held.map((each) => `${heldText(each)}, unless you undo it within ${HOLD_MS / 1_000} seconds.`).join(' ')}
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
          run {shortId(runId)} · {seconds > 0 ? `sent in ${seconds} s` : 'is being sent'}
        </span>
      </div>
      <Button size="xs" variant="default" disabled={seconds <= 0} onClick={() => undo(reviewId)}>
        Undo{isLast ? <kbd>Z</kbd> : null}
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
      return isQuestion ? `${taskName} goes on without an answer` : `${taskName} is approved`;
    case 'EDIT':
      return isQuestion ? `${taskName} gets your answer` : `${taskName} is approved as edited`;
    case 'REJECT':
      return `${taskName} is rejected and runs again`;
    case 'EXIT_EARLY':
      return `The run ends at ${taskName}`;
  }
}
