// What happened to a task's output before the review that is open: the reviews of the same task in the same run, with the
// feedback they ended in.

import { useQuery } from '@tanstack/react-query';
import { follow } from '../api/sse';
import type { Review } from '../api/types';
import type { Of } from '../run/frame';

export interface EarlierReview {
  reviewId: string;
  output: string;
  /** The person who decided, with their words. */
  by?: string;
  decision?: string;
  feedback?: string;
}

type ReviewFrame = Of<'review_requested'> | Of<'review_decided'>;

/** The earlier reviews of the task, from the frames about reviews up to the open one. */
export function earlierReviews(frames: readonly ReviewFrame[], { reviewId, taskIndex }: Review): EarlierReview[] {
  const found = new Map<string, EarlierReview>();
  for (const frame of frames) {
    if (frame.type === 'review_requested') {
      if (frame.reviewId === reviewId) break;
      if (frame.taskIndex === taskIndex)
        found.set(frame.reviewId, { reviewId: frame.reviewId, output: frame.taskOutput });
    } else {
      const known = found.get(frame.reviewId);
      const { by, decision, feedback } = frame;
      if (known) Object.assign(known, { by, decision, ...(feedback === undefined ? {} : { feedback }) });
    }
  }
  return [...found.values()];
}

/** The frames about reviews, up to the request of this one. */
function read({ runId, reviewId }: Review, signal: AbortSignal): Promise<ReviewFrame[]> {
  return new Promise((done, failed) => {
    const frames: ReviewFrame[] = [];
    const stop = follow({
      url: () => `/api/runs/${encodeURIComponent(runId)}/events?from=0&events=review_requested,review_decided`,
      take: (data) => {
        const frame = JSON.parse(data) as ReviewFrame;
        frames.push(frame);
        const isLast = frame.type === 'review_requested' && frame.reviewId === reviewId;
        if (isLast) done(frames);
        return isLast;
      },
      refused: failed,
    });
    signal.addEventListener('abort', stop, { once: true });
  });
}

export function useEarlierReviews(review: Review): EarlierReview[] {
  const { data } = useQuery({
    queryKey: ['earlier', review.reviewId],
    queryFn: ({ signal }) => read(review, signal),
    staleTime: Infinity,
    // The first review of a run has none before it.
    enabled: !review.reviewId.endsWith('-review-0'),
  });
  return data ? earlierReviews(data, review) : [];
}
