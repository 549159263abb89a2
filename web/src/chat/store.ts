// One thread, followed: its rows at once, then its frames, the newest turns from their beginning.

import { get, type Problem } from '../api/client';
import { follow } from '../api/sse';
import type { Answer, Thread } from '../api/types';
import { fold, fromRows } from './fold';
import type { Frame } from './frame';
import type { ThreadState } from './state';

/** Frames told again when a thread is opened; older turns are shown by their rows. */
const REPLAYED = 5_000;
const BATCH_MS = 40;

export interface OpenedThread {
  state?: ThreadState;
  problem?: Problem;
}

export class ThreadStore {
  readonly #path: string;
  readonly #listeners = new Set<() => void>();
  #shown: OpenedThread = {};
  #stop: (() => void) | undefined;
  #closed = false;

  constructor(id: string) {
    this.#path = `/api/threads/${encodeURIComponent(id)}`;
  }

  readonly snapshot = (): OpenedThread => this.#shown;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  open(): void {
    this.#closed = false;
    void this.#read();
  }

  close(): void {
    this.#closed = true;
    this.#stop?.();
  }

  async #read(): Promise<void> {
    try {
      const [thread, { messages }] = await Promise.all([
        get<Thread>(this.#path),
        get<Answer<'GET /api/threads/{id}/messages'>>(`${this.#path}/messages`),
      ]);
      if (this.#closed) return;
      const next = Math.max(0, (thread.chatSeq ?? -1) + 1 - REPLAYED);
      const start = fromRows(messages, next);
      this.#show({ state: start });
      this.#stop = this.#follow(start);
    } catch (error) {
      if (!this.#closed) this.#show({ problem: error as Problem });
    }
  }

  #follow(start: ThreadState): () => void {
    let state = start;
    let batch: Frame[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = (): void => {
      clearTimeout(timer);
      timer = undefined;
      state = fold(state, batch);
      batch = [];
      this.#show({ state });
    };
    const stop = follow({
      url: () => {
        flush();
        return `${this.#path}/events?from=${state.next}`;
      },
      take: (data) => {
        batch.push(JSON.parse(data) as Frame);
        timer ??= setTimeout(flush, BATCH_MS);
        return false;
      },
      refused: (problem) => this.#show({ problem }),
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }

  #show(change: OpenedThread): void {
    this.#shown = { ...this.#shown, ...change };
    for (const listener of this.#listeners) listener();
  }
}
