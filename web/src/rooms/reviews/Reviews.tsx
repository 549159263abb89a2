import { type HotkeyItem, useHotkeys } from '@mantine/hooks';
import { IconChevronLeft, IconMailCheck } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { Link, useNavigate, useParams } from 'react-router';
import { useRuns } from '../../api/queries';
import type { Review } from '../../api/types';
import { useOpenReviews } from '../../review/useHeld';
import { preview, shortId } from '../../ui/format';
import { Empty, ProblemNote } from '../../ui/Note';
import { useTitle } from '../../ui/Page';
import { runName } from '../../ui/runName';
import { Ago, Countdown } from '../../ui/Time';
import { useNow } from '../../ui/useNow';
import { OneReview } from './OneReview';
import css from './Reviews.module.css';
import { Several } from './Several';
import { t } from '../../words/t';
import { Said } from '../../words/Said';

/** A deadline this near is urgent. */
const SOON_MS = 60_000;

/** Everything that waits for a person, over all runs; the keyboard is enough. */
export default function Reviews() {
  const { reviewId } = useParams();
  const navigate = useNavigate();
  const { reviews: open, total, error } = useOpenReviews();
  const reviews = open ?? [];
  const nameOf = useRunNames();
  const [isWriting, setWriting] = useState(false);
  const chosen =
    reviews.find((review) => review.reviewId === reviewId) ?? (reviewId === undefined ? reviews[0] : undefined);
  const position = chosen ? reviews.indexOf(chosen) : -1;
  const go = (to: number): void => {
    const next = reviews[to];
    if (next && !isWriting) void navigate(`/reviews/${next.reviewId}`);
  };
  useTitle(t('Reviews'));
  const [down, up] = [(): void => go(position + 1), (): void => go(position - 1)];
  // A letter may be the beginning of an answer.
  const isAsked = chosen?.timing === 'DURING_EXECUTION';
  useHotkeys([
    ['ArrowDown', down],
    ['ArrowUp', up],
    ...(isAsked ? [] : [['j', down] as HotkeyItem, ['k', up] as HotkeyItem]),
  ]);
  const decided = (): void => {
    const next = reviews[position + 1] ?? reviews[position - 1];
    void navigate(next ? `/reviews/${next.reviewId}` : '/reviews', { replace: true });
  };
  return (
    <div className={css.split} data-open={reviewId === undefined ? undefined : true}>
      <section className={css.inbox} aria-label={t('Waiting')}>
        <header>
          <h1>{t('Reviews')}</h1>
          <span role="status">{open ? t('{total} waiting', { total }) : ''}</span>
          <Several reviews={reviews} nameOf={nameOf} />
        </header>
        <ul>
          {reviews.map((review) => (
            <Entry key={review.reviewId} review={review} run={nameOf(review)} isChosen={review === chosen} />
          ))}
        </ul>
        <div className={css.keys} aria-hidden>
          {isAsked ? (
            <>
              <span>
                <kbd>Ctrl ↵</kbd> {t('answer')}
              </span>
              <span>
                <kbd>Esc</kbd> <kbd>↓</kbd> <kbd>↑</kbd> {t('next, previous')}
              </span>
            </>
          ) : (
            <>
              <span>
                <kbd>J</kbd> <kbd>K</kbd> {t('next, previous')}
              </span>
              <span>
                <kbd>A</kbd> {t('approve')}
              </span>
              <span>
                <kbd>E</kbd> {t('edit')}
              </span>
              <span>
                <kbd>R</kbd> {t('reject')}
              </span>
              <span>
                <kbd>X</kbd> {t('end the run')}
              </span>
              <span>
                <kbd>Z</kbd> {t('undo')}
              </span>
            </>
          )}
        </div>
      </section>
      <div className={css.review}>
        <Link className={css.back} to="/reviews">
          <IconChevronLeft size={15} aria-hidden />
          {t('All reviews')}
        </Link>
        {error ? <ProblemNote what={t('The reviews could not be listed')} error={error} /> : null}
        {chosen ? <OneReview key={chosen.reviewId} review={chosen} decided={decided} writing={setWriting} /> : null}
        {open && !chosen ? <NoReview isGone={reviewId !== undefined} /> : null}
      </div>
    </div>
  );
}

const WORDS: Record<Review['timing'], string> = {
  BEFORE_EXECUTION: t('Before the start'),
  DURING_EXECUTION: t('Question'),
  AFTER_EXECUTION: t('Review'),
};

/** The name of the run a review belongs to. */
function useRunNames(): (review: Review) => string {
  const runs = useRuns('status=RUNNING&limit=500').data?.runs;
  const names = useMemo(() => new Map(runs?.map((run) => [run.runId, runName(run)])), [runs]);
  return ({ runId }) => names.get(runId) ?? t('run {id}', { id: shortId(runId) });
}

function Entry({ review, run, isChosen }: { review: Review; run: string; isChosen: boolean }) {
  const now = useNow();
  const soon = review.expiresAt ? Date.parse(review.expiresAt) - now < SOON_MS : false;
  return (
    <li>
      <Link className={css.entry} to={`/reviews/${review.reviewId}`} aria-current={isChosen}>
        <strong>{review.prompt ?? review.taskName ?? review.taskDescription}</strong>
        <span className={css.run}>{run}</span>
        {review.taskOutput ? <span className={css.glimpse}>{preview(review.taskOutput)}</span> : null}
        <span>
          <span>{WORDS[review.timing]}</span>
          <Ago at={review.createdAt} />
          <span className={soon ? css.soon : undefined}>
            {review.expiresAt ? (
              <>
                <Said of="{time} left" time={<Countdown to={review.expiresAt} />} />
              </>
            ) : (
              t('no deadline')
            )}
          </span>
        </span>
      </Link>
    </li>
  );
}

export function NoReview({ isGone }: { isGone: boolean }) {
  return isGone ? (
    <Empty icon={IconMailCheck} title={t('This review is decided')}>
      <p>
        <Said
          of="Somebody decided it, or its time ran out. {link}"
          link={<Link to="/reviews">{t('All reviews')}</Link>}
        />
      </p>
    </Empty>
  ) : (
    <Empty icon={IconMailCheck} title={t('Nothing waits for you')}>
      <p>
        <Said
          of="A task with {code}, or one that asks a person, shows up here by itself."
          code={<code>review = "required"</code>}
        />
      </p>
    </Empty>
  );
}
