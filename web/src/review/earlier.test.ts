import { describe, expect, it } from 'vitest';
import type { Review } from '../api/types';
import { earlierReviews } from './earlier';

type Frames = Parameters<typeof earlierReviews>[0];

const asked = (reviewId: string, taskIndex: number, taskOutput: string): object => ({
  type: 'review_requested',
  reviewId,
  taskIndex,
  taskOutput,
});

describe('what came before a review', () => {
  it('is the earlier output of the same task with the feedback on it, and nothing of other tasks', () => {
    const frames = [
      asked('r-0', 1, 'Plain'),
      asked('r-1', 2, 'Other'),
      { type: 'review_decided', reviewId: 'r-0', by: 'ana', decision: 'REJECT', feedback: 'Say why' },
      asked('r-2', 1, 'Plain, because'),
      asked('r-3', 1, 'Later'),
    ] as unknown as Frames;
    expect(earlierReviews(frames, { reviewId: 'r-2', taskIndex: 1 } as Review)).toEqual([
      { reviewId: 'r-0', output: 'Plain', by: 'ana', decision: 'REJECT', feedback: 'Say why' },
    ]);
    expect(earlierReviews(frames, { reviewId: 'r-1', taskIndex: 2 } as Review)).toEqual([]);
  });
});
