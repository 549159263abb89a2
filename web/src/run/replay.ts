// A run as it was at any of its events, by the same fold. States are kept at intervals, so that any event is a few hundred
// steps away from one.

import { fold } from './fold';
import { isInherited, type StoredFrame } from './frame';
import { emptyRun } from './seed';
import type { RunState } from './state';

/** Events between two states that are kept. */
const INTERVAL = 250;

export class Replay {
  readonly #frames: readonly StoredFrame[];
  /** The states before the events 0, INTERVAL, … */
  readonly #states: RunState[];

  constructor(runId: string, frames: readonly StoredFrame[]) {
    // What was copied from another run happened too: here it is shown like everything else.
    this.#frames = frames.map((frame) => (isInherited(frame) ? { ...frame, inherited: false } : frame) as StoredFrame);
    this.#states = [emptyRun(runId)];
  }

  get length(): number {
    return this.#frames.length;
  }

  frame(seq: number): StoredFrame | undefined {
    return this.#frames[seq];
  }

  /** The run right after the event. */
  at(seq: number): RunState {
    const last = Math.max(0, Math.min(seq, this.#frames.length - 1));
    const wanted = Math.floor(last / INTERVAL);
    while (this.#states.length <= wanted) {
      const from = (this.#states.length - 1) * INTERVAL;
      const before = this.#states.at(-1);
      if (!before) break;
      this.#states.push(fold(before, this.#frames.slice(from, from + INTERVAL)));
    }
    const near = this.#states[wanted] ?? emptyRun('');
    return fold(near, this.#frames.slice(wanted * INTERVAL, last + 1));
  }
}
