// One run: the server's fold to start from, then its events as they come. A long run is read from near its end;
// `extend` reads it again from further back.

import { get, type Problem } from '../api/client';
import { followFrames } from '../api/frames';
import type { RunDetail } from '../api/types';
import { Store } from '../store/store';
import { fold, interrupted } from './fold';
import type { Frame, StoredFrame } from './frame';
import { emptyRun, seededRun } from './seed';
import type { RunState } from './state';

/** Events read when a run is opened. */
const WINDOW = 2_000;
/** Events folded at most; the event list shows any number. */
export const WINDOW_MAX = 32_000;

export interface OpenedRun {
  run?: RunState;
  detail?: RunDetail;
  problem?: Problem;
  /** The part of the events there were when the page opened that has been read, from 0 to 1. */
  progress: number;
  extending: boolean;
}

export const UNOPENED: OpenedRun = { progress: 0, extending: false };

/** Follows its run while there are listeners. */
export class RunStore extends Store<OpenedRun> {
  readonly #runId: string;
  readonly #path: string;
  #closed = new AbortController();
  #stop: (() => void) | undefined;

  constructor(runId: string) {
    super(UNOPENED);
    this.#runId = runId;
    this.#path = `/api/runs/${encodeURIComponent(runId)}`;
  }

  protected override start(): () => void {
    const closed = new AbortController();
    this.#closed = closed;
    void this.#read(WINDOW, closed.signal);
    return () => {
      closed.abort();
      this.#stop?.();
    };
  }

  /** Reads twice as far back. What is shown stays until as much has been read again. */
  extend(): void {
    const { run, extending } = this.snapshot();
    if (!run || run.first === 0 || extending) return;
    this.update({ extending: true });
    void this.#read(Math.min(WINDOW_MAX, 2 * (run.next - run.first)), this.#closed.signal);
  }

  async #read(window: number, closed: AbortSignal): Promise<void> {
    try {
      const detail = await get<RunDetail>(this.#path, closed);
      const first = Math.max(0, detail.eventCount - window);
      const isWhole = first === 0 && !detail.retryOf && !detail.forkedFrom;
      const start = isWhole ? emptyRun(this.#runId) : seededRun(detail, await this.#firstEvent(closed), first);
      if (closed.aborted) return;
      this.#stop?.();
      this.update({ detail });
      this.#stop = this.#follow(start, detail.eventCount);
    } catch (error) {
      if (!closed.aborted) this.update({ problem: error as Problem, extending: false });
    }
  }

  async #firstEvent(closed: AbortSignal): Promise<StoredFrame | undefined> {
    const { events } = await get<{ events: StoredFrame[] }>(`${this.#path}/events?from=0&limit=1`, closed);
    return events[0];
  }

  /** Folds from `start` on; the state is shown once it holds the `known` events there were. */
  #follow(start: RunState, known: number): () => void {
    let run = start;
    let isCaughtUp = false;
    // Answers under way come from their beginning, after the events that are known.
    let isLive = false;
    return followFrames<Frame>({
      url: () => {
        // The tokens between two connections are missing.
        if (isCaughtUp) run = interrupted(run);
        return `${this.#path}/events?from=${run.next}`;
      },
      apply: (frames) => {
        const first = isLive ? -1 : frames.findIndex(({ type }) => type === 'token');
        if (first >= 0) {
          isLive = true;
          run = interrupted(fold(run, frames.slice(0, first)));
        }
        run = fold(run, frames.slice(Math.max(first, 0)));
        if (!isCaughtUp && run.next >= known) {
          isCaughtUp = true;
          if (!isLive) run = interrupted(run);
          isLive = true;
        }
        if (isCaughtUp) this.update({ run, progress: 1, extending: false });
        else this.update({ progress: (run.next - start.first) / Math.max(1, known - start.first) });
      },
      isLast: ({ type }) => type === 'run_result',
      refused: (problem) => this.update({ problem }),
    });
  }
}
