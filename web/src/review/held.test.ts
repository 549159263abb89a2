import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Review } from '../api/types';
import { type Held, HeldDecisions, HOLD_MS } from './held';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const review = (reviewId: string, leftMs?: number): Review =>
  ({ reviewId, ...(leftMs === undefined ? {} : { expiresAt: new Date(NOW + leftMs).toISOString() }) }) as Review;
const APPROVED = { decision: 'CONTINUE' } as const;

let sent: string[];
let refused: string[];
let answer: (held: Held) => Promise<unknown>;
let decisions: HeldDecisions;

beforeEach(() => {
  vi.useFakeTimers({ now: NOW });
  [sent, refused] = [[], []];
  answer = () => Promise.resolve();
  decisions = new HeldDecisions({
    send: (held) => {
      sent.push(held.review.reviewId);
      return answer(held);
    },
    refused: (held, error) => refused.push(`${held.review.reviewId}: ${error.message}`),
  });
});

afterEach(() => vi.useRealTimers());

const ids = (): string[] => decisions.snapshot().held.map(({ review: { reviewId } }) => reviewId);

describe('a decision', () => {
  it('is sent after five seconds, once, and its review stays decided here', async () => {
    decisions.hold(review('a'), APPROVED);
    decisions.hold(review('a'), { decision: 'EXIT_EARLY' });
    await vi.advanceTimersByTimeAsync(HOLD_MS - 1);
    expect([sent, ids()]).toEqual([[], ['a']]);
    await vi.advanceTimersByTimeAsync(1);
    expect([sent, ids(), decisions.snapshot().sent]).toEqual([['a'], [], ['a']]);
    decisions.hold(review('a'), APPROVED);
    await vi.advanceTimersByTimeAsync(HOLD_MS);
    expect(sent).toEqual(['a']);
  });

  it('that is taken back is never sent, nor is any when the page is left', async () => {
    for (const id of ['a', 'b', 'c']) decisions.hold(review(id), APPROVED);
    expect([decisions.undo('b'), decisions.undo('b'), ids()]).toEqual([true, false, ['a', 'c']]);
    decisions.leave();
    await vi.advanceTimersByTimeAsync(2 * HOLD_MS);
    expect([sent, ids()]).toEqual([[], []]);
  });

  it('is not held past the deadline of its review', async () => {
    decisions.hold(review('soon', 3_000), APPROVED);
    decisions.hold(review('late', 200), APPROVED);
    await vi.advanceTimersByTimeAsync(0);
    expect(sent).toEqual(['late']);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(sent).toEqual(['late', 'soon']);
  });

  it('cannot be taken back while it is sent, and one that is refused opens its review again', async () => {
    let refuse: (error: Error) => void = () => undefined;
    answer = () =>
      new Promise((_, reject) => {
        refuse = reject;
      });
    decisions.hold(review('a'), APPROVED);
    await vi.advanceTimersByTimeAsync(HOLD_MS);
    expect([decisions.undo('a'), ids()]).toEqual([false, ['a']]);
    refuse(new Error('somebody was first'));
    await vi.advanceTimersByTimeAsync(0);
    expect([ids(), decisions.snapshot().sent, refused]).toEqual([[], [], ['a: somebody was first']]);
  });
});
