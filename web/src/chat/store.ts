// One thread: its rows at once, then its frames, the newest turns from their beginning.

import { get, type Problem } from '../api/client';
import { followFrames } from '../api/frames';
import type { Answer, Thread } from '../api/types';
import { Store } from '../store/store';
import { fold } from './fold';
import type { Frame } from './frame';
import { fromRows } from './rows';
import type { ThreadState } from './state';

/** Frames read again when a thread is opened; older turns are shown by their rows. */
const REPLAYED = 5_000;

export interface OpenedThread {
  state?: ThreadState;
  problem?: Problem;
  /** The thread it branched off from. */
  branchOf?: Thread['branchOf'];
}

/** Follows its thread while there are listeners. */
export class ThreadStore extends Store<OpenedThread> {
  readonly #path: string;
  #stop: (() => void) | undefined;

  constructor(id: string) {
    super({});
    this.#path = `/api/threads/${encodeURIComponent(id)}`;
  }

  protected override start(): () => void {
    const closed = new AbortController();
    void this.#read(closed.signal);
    return () => {
      closed.abort();
      this.#stop?.();
    };
  }

  async #read(closed: AbortSignal): Promise<void> {
    try {
      const [thread, { messages }] = await Promise.all([
        get<Thread>(this.#path, closed),
        get<Answer<'GET /api/threads/{id}/messages'>>(`${this.#path}/messages`, closed),
      ]);
      if (closed.aborted) return;
      const next = Math.max(0, (thread.chatSeq ?? -1) + 1 - REPLAYED);
      this.update({ branchOf: thread.branchOf });
      this.#stop = this.#follow(fromRows(messages, next));
    } catch (error) {
      if (!closed.aborted) this.update({ problem: error as Problem });
    }
  }

  #follow(start: ThreadState): () => void {
    let state = start;
    this.update({ state });
    return followFrames<Frame>({
      url: () => `${this.#path}/events?from=${state.next}`,
      apply: (frames) => {
        state = fold(state, frames);
        this.update({ state });
      },
      isLast: () => false,
      refused: (problem) => this.update({ problem }),
    });
  }
}
