import { IconClock } from '@tabler/icons-react';
import { Link } from 'react-router';
import type { Decision, Review } from '../../api/types';
import { decisions } from '../../review/useHeld';
import { timeoutText } from '../../run/words';
import { shortId } from '../../ui/format';
import { Ago, Countdown } from '../../ui/Time';
import { useNow } from '../../ui/useNow';
import { OutputReview } from './OutputReview';
import { Question } from './Question';
import css from './Reviews.module.css';
import { t } from '../../words/t';
import { Said } from '../../words/Said';

/** Time left below which a deadline stands out. */
const SOON_MS = 60_000;

interface OneReviewProps {
  review: Review;
  decided: () => void;
  /** Called with whether a field or a question is open that a key must not lead away from. */
  writing?: (isWriting: boolean) => void;
}

/** One review: what it is about, and the decision. */
export function OneReview({ review, decided, writing }: OneReviewProps) {
  const send = (decision: Decision): void => {
    decisions.hold(review, decision);
    decided();
  };
  const Body = review.timing === 'DURING_EXECUTION' ? Question : OutputReview;
  return (
    <article className={css.inner}>
      <Head review={review} />
      <Body review={review} send={send} writing={writing} />
    </article>
  );
}

const TIMINGS: Record<Review['timing'], string> = {
  BEFORE_EXECUTION: t('May it start?'),
  DURING_EXECUTION: t('A question'),
  AFTER_EXECUTION: t('Is this output good?'),
};

/** In a dialog the name has the focus at first, rather than a button; a question takes it for its field. */
function focusInDialog(name: HTMLElement | null): void {
  if (name?.closest('[role="dialog"]')) name.focus();
}

function Head({ review }: { review: Review }) {
  const now = useNow();
  const { expiresAt, onTimeout } = review;
  return (
    <header className={css.head}>
      <h2
        tabIndex={-1}
        {...(review.timing === 'DURING_EXECUTION' ? {} : { ref: focusInDialog, 'data-autofocus': true })}
      >
        {review.taskName ?? t('A task')}
      </h2>
      <span>{TIMINGS[review.timing]}</span>
      {expiresAt && onTimeout ? (
        <span
          className={css.deadline}
          data-soon={Date.parse(expiresAt) - now < SOON_MS || undefined}
          title={t('Without a decision, {what}', { what: timeoutText(onTimeout) })}
        >
          <IconClock size={15} aria-hidden />
          <span>
            <Said of="{time}, then {what}" time={<Countdown to={expiresAt} />} what={timeoutText(onTimeout)} />
          </span>
        </span>
      ) : null}
      <p>
        {review.agentRole} ·{' '}
        <Link to={`/runs/${review.runId}/conversation?turn=${review.turnId?.split('.')[0] ?? review.taskIndex}`}>
          {t('run {id}', { id: shortId(review.runId) })}
        </Link>{' '}
        · <Said of="asked {ago}" ago={<Ago at={review.createdAt} />} />
      </p>
    </header>
  );
}

export interface DecidingProps {
  review: Review;
  send: (decision: Decision) => void;
  writing: ((isWriting: boolean) => void) | undefined;
}
