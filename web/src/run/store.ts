// One run, followed: the server's fold to start from, then its events as they come, folded in batches. A long run is
// read from near its end; `extend` reads it again from further back.

import { get, type Problem } from '../api/client';
import { follow } from '../api/sse';
import type { RunDetail } from '../api/types';
import { emptyRun, fold, interrupted, seededRun } from './fold';
import { type Frame, isStored, type StoredFrame } from './frame';
import type { RunState } from './state';

/** Events read when a run is opened. */
const WINDOW = 2_000;
/** Events folded at most; the event list shows any number. */
export const WINDOW_MAX = 32_000;
/** How long frames are collected before they are folded and shown. */
const BATCH_MS = 40;
/** Frames collected at most. */
const BATCH_MAX = 1_000;

export interface Opened {
  run?: RunState;
  detail?: RunDetail;
  problem?: Problem;
  /** How much of what there was when the page opened has been read, from 0 to 1. */
  progress: number;
  extending: boolean;
}

export class RunStore {
  readonly #runId: string;
  readonly #listeners = new Set<() => void>();
  #shown: Opened = { progress: 0, extending: false };
  #stop: (() => void) | undefined;
  #closed = false;

  constructor(runId: string) {
    this.#runId = runId;
  }

  readonly snapshot = (): Opened => this.#shown;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  open(): void {
    this.#closed = false;
    void this.#read(WINDOW);
  }

  close(): void {
    this.#closed = true;
    this.#stop?.();
  }

  /** Reads twice as far back. */
  extend(): void {
    const { run } = this.#shown;
    if (!run || run.first === 0 || this.#shown.extending) return;
    this.#show({ extending: true });
    void this.#read(Math.min(WINDOW_MAX, 2 * (run.next - run.first)));
  }

  async #read(window: number): Promise<void> {
    try {
      const path = `/api/runs/${encodeURIComponent(this.#runId)}`;
      const detail = await get<RunDetail>(path);
      const first = detail.eventCount > window ? detail.eventCount - window : 0;
      const isWhole = first === 0 && !detail.retryOf && !detail.forkedFrom;
      const start = isWhole ? emptyRun(this.#runId) : seededRun(detail, await acceptance(path), first);
      if (this.#closed) return;
      this.#stop?.();
      this.#show({ detail });
      this.#stop = this.#follow(path, start, detail.eventCount);
    } catch (error) {
      if (!this.#closed) this.#show({ problem: error as Problem, extending: false });
    }
  }

  /** Folds from `start` on; what is read is shown once it is as much as there was. */
  #follow(path: string, start: RunState, known: number): () => void {
    let run = start;
    let isCaughtUp = false;
    let batch: Frame[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = (): void => {
      clearTimeout(timer);
      timer = undefined;
      run = fold(run, batch);
      batch = [];
      if (!isCaughtUp && run.next >= known) {
        isCaughtUp = true;
        run = interrupted(run);
      }
      if (isCaughtUp) this.#show({ run, progress: 1, extending: false });
      else this.#show({ progress: (run.next - start.first) / Math.max(1, known - start.first) });
    };
    const stop = follow({
      url: () => {
        if (isCaughtUp) {
          flush();
          run = interrupted(run);
        }
        return `${path}/events?from=${run.next + batch.filter(isStored).length}`;
      },
      take: (data) => {
        const frame = JSON.parse(data) as Frame;
        batch.push(frame);
        if (batch.length >= BATCH_MAX) flush();
        timer ??= setTimeout(flush, BATCH_MS);
        return frame.type === 'run_result';
      },
      refused: (problem) => this.#show({ problem }),
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }

  #show(change: Partial<Opened>): void {
    this.#shown = { ...this.#shown, ...change };
    for (const listener of this.#listeners) listener();
  }
}

async function acceptance(path: string): Promise<StoredFrame | undefined> {
  const { events } = await get<{ events: StoredFrame[] }>(`${path}/events?from=0&limit=1`);
  return events[0];
}
