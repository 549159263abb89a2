import { notifications } from '@mantine/notifications';
import { useEffect, useState } from 'react';
import { post } from '../api/client';
import { useReviews } from '../api/queries';
import { useStore } from '../store/store';
import { forgetDraft } from '../ui/useDraft';
import { HeldDecisions, type HeldState } from './held';
import { t } from '../words/t';

/** Time after a decision in which the next review takes none: a key or click may have been meant for the one before. */
const SETTLE_MS = 500;

/** One for the whole page: a decision is held while its review is no longer looked at. */
export const decisions = new HeldDecisions({
  send: async ({ review: { reviewId }, decision }) => {
    await post(`/api/reviews/${reviewId}`, decision);
    forgetDraft(reviewId);
  },
  refused: ({ review }, error) =>
    notifications.show({
      color: 'red',
      title: t('{task}: your decision was not taken', { task: review.taskName ?? t('The review') }),
      message: error.message,
      autoClose: 12_000,
    }),
});

// A page that is put aside by the browser may be shown again later; what was held then is not sent late.
addEventListener('pagehide', () => decisions.leave());

export function useHeld(): HeldState {
  return useStore(decisions);
}

/** The reviews that wait for a person, without those decided here. */
export function useOpenReviews() {
  const { data, error } = useReviews();
  const { held, sent } = useHeld();
  const reviews = data?.reviews.filter(
    ({ reviewId }) => !sent.includes(reviewId) && held.every(({ review }) => review.reviewId !== reviewId),
  );
  return { reviews, error, total: data && reviews ? data.total - (data.reviews.length - reviews.length) : 0 };
}

/** Whether a review that is just shown may be decided yet. */
export function useSettled(): boolean {
  const [isSettled, setSettled] = useState(() => Date.now() - decisions.latestAt >= SETTLE_MS);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(true), SETTLE_MS);
    return () => clearTimeout(timer);
  }, []);
  return isSettled;
}
