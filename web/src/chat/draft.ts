// A thread being changed: a turn is copied when it is first touched, so that the state before stays as it was.

import type { ThreadState, Turn } from './state';

export class ThreadDraft {
  readonly thread: ThreadState;
  readonly #copied = new Set<Turn>();

  constructor(state: ThreadState) {
    this.thread = { ...state, turns: [...state.turns] };
  }

  /** The turn, to be changed. */
  turn(id: string): Turn | undefined {
    const { turns } = this.thread;
    const position = turns.findLastIndex((turn) => turn.id === id);
    const known = turns[position];
    if (!known || this.#copied.has(known)) return known;
    // A turn is small: it is copied whole, once for each batch that touches it.
    const copy = structuredClone(known);
    this.#copied.add(copy);
    turns[position] = copy;
    return copy;
  }

  /** Adds a turn, in the place of the one its rows gave. */
  beginTurn(turn: Turn): void {
    const { turns } = this.thread;
    const position = turns.findIndex(({ id }) => id === turn.id);
    this.#copied.add(turn);
    if (position >= 0) turns[position] = turn;
    else turns.push(turn);
  }
}
