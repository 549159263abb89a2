// Decisions on reviews, held here for a few seconds before they are sent, so that they can be taken back. Leaving
// the page sends nothing; the first decision that arrives at the server wins.

import type { Decision, Review } from '../api/types';
import { Store } from '../store/store';

/** The time in which a decision can be taken back. */
export const HOLD_MS = 5_000;
/** A decision leaves this long before its review runs out, so that holding it never loses it. */
const MARGIN_MS = 1_000;
/** Reviews remembered as decided until the server's list says so too; more were never open at once. */
const SENT_MAX = 1_000;

export interface Held {
  review: Review;
  decision: Decision;
  /** The time it is sent, in milliseconds of the page's clock. */
  sendsAt: number;
}

export interface HeldState {
  /** In the order they were made. */
  held: readonly Held[];
  /** Reviews whose decision has arrived at the server. */
  sent: readonly string[];
}

export interface DecisionSender {
  /** Sends the decision to the server. */
  send: (held: Held) => Promise<unknown>;
  /** The server did not take it; the review is open again here. */
  refused: (held: Held, error: Error) => void;
}

export class HeldDecisions extends Store<HeldState> {
  readonly #sender: DecisionSender;
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  #latestAt = -Infinity;

  constructor(sender: DecisionSender) {
    super({ held: [], sent: [] });
    this.#sender = sender;
  }

  /** The time of the latest decision. */
  get latestAt(): number {
    return this.#latestAt;
  }

  /** Holds a decision; one that is held already stays as it is. */
  hold(review: Review, decision: Decision): void {
    const { reviewId, expiresAt } = review;
    if (this.#isKnown(reviewId)) return;
    const now = Date.now();
    const left = expiresAt === undefined ? HOLD_MS : Date.parse(expiresAt) - now - MARGIN_MS;
    const wait = Math.max(0, Math.min(HOLD_MS, left));
    const held: Held = { review, decision, sendsAt: now + wait };
    this.#latestAt = now;
    this.#timers.set(
      reviewId,
      setTimeout(() => void this.#send(held), wait),
    );
    this.update({ held: [...this.snapshot().held, held] });
  }

  /** Takes a decision back, unless it is being sent. */
  undo(reviewId: string): boolean {
    if (!this.#timers.has(reviewId)) return false;
    clearTimeout(this.#timers.get(reviewId));
    this.#timers.delete(reviewId);
    this.update({ held: this.#without(reviewId) });
    return true;
  }

  /** Takes back every decision that was not sent. */
  leave(): void {
    for (const reviewId of this.#timers.keys()) this.undo(reviewId);
  }

  async #send(held: Held): Promise<void> {
    const { reviewId } = held.review;
    this.#timers.delete(reviewId);
    try {
      await this.#sender.send(held);
      this.update({ held: this.#without(reviewId), sent: [...this.snapshot().sent, reviewId].slice(-SENT_MAX) });
    } catch (error) {
      this.update({ held: this.#without(reviewId) });
      this.#sender.refused(held, error as Error);
    }
  }

  #isKnown(reviewId: string): boolean {
    return (
      this.snapshot().sent.includes(reviewId) || this.snapshot().held.some(({ review }) => review.reviewId === reviewId)
    );
  }

  #without(reviewId: string): Held[] {
    return this.snapshot().held.filter(({ review }) => review.reviewId !== reviewId);
  }
}
