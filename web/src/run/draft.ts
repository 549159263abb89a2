// A state being changed: its parts are copied when they are first touched, so that the state before stays as it was.

import type { Review } from '../api/types';
import type { StoredFrame } from './frame';
import type { Call, Chore, Directive, Gate, Item, Note, Round, RunState, Task, Tone, Totals, Turn } from './state';

/** Notes about the run as a whole that are kept. */
const NOTES_MAX = 500;

/** A copy of a state that copies its parts when they are first changed. */
export class Draft {
  readonly run: RunState;
  readonly #fresh = new Set<object>();

  constructor(state: RunState) {
    this.run = { ...state };
  }

  task(index: number): Task | undefined {
    const known = this.run.tasks[index - 1];
    if (!known || this.#fresh.has(known)) return known;
    const copy = this.#mark({ ...known });
    this.#tasks()[index - 1] = copy;
    return copy;
  }

  setTasks(tasks: Task[]): void {
    this.run.tasks = this.#mark(tasks);
  }

  addTask(task: Task): Task {
    this.#tasks().push(this.#mark(task));
    return task;
  }

  turn(id: string): Turn | undefined {
    const known = this.run.turns.get(id);
    if (!known || this.#fresh.has(known)) return known;
    return this.addTurn({ ...known, items: [...known.items] });
  }

  addTurn(turn: Turn): Turn {
    const turns = this.#map(this.run.turns) as Map<string, Turn>;
    this.run.turns = turns.set(turn.id, this.#mark(turn));
    return turn;
  }

  /** The last round of a turn, to be changed. */
  round(turn: Turn | undefined): Round | undefined {
    if (!turn) return undefined;
    const at = turn.items.findLastIndex((item) => item.kind === 'round');
    return this.#item(turn, at) as Round | undefined;
  }

  /** The last thing a turn did that calls tools, to be changed. */
  work(turn: Turn | undefined): Round | Chore | undefined {
    if (!turn) return undefined;
    const at = turn.items.findLastIndex((item) => item.kind === 'round' || item.kind === 'chore');
    return this.#item(turn, at) as Round | Chore | undefined;
  }

  call(turn: Turn | undefined, id: string): Call | undefined {
    if (!turn) return undefined;
    const at = turn.items.findLastIndex((item) => 'calls' in item && item.calls.some((call) => call.id === id));
    const work = this.#item(turn, at) as Round | Chore | undefined;
    const position = work?.calls.findIndex((call) => call.id === id) ?? -1;
    const known = work?.calls[position];
    if (!work || !known) return undefined;
    const copy = { ...known };
    work.calls[position] = copy;
    return copy;
  }

  gate(turn: Turn | undefined, reviewId: string): Gate | undefined {
    if (!turn) return undefined;
    const at = turn.items.findIndex((item) => item.kind === 'gate' && item.reviewId === reviewId);
    return this.#item(turn, at) as Gate | undefined;
  }

  reviews(): Map<string, Review> {
    this.run.reviews = this.#map(this.run.reviews);
    return this.run.reviews as Map<string, Review>;
  }

  directives(): Map<string, Directive> {
    this.run.directives = this.#map(this.run.directives);
    return this.run.directives as Map<string, Directive>;
  }

  note(frame: StoredFrame, tone: Tone, text: string): void {
    const note: Note = { seq: frame.seq, at: frame.at, tone, text };
    this.run.notes = [...this.run.notes, note].slice(-NOTES_MAX);
  }

  totals(frame: StoredFrame): Totals | undefined {
    if (frame.seq < this.run.counted) return undefined;
    this.run.totals = { ...this.run.totals };
    return this.run.totals;
  }

  #tasks(): Task[] {
    if (!this.#fresh.has(this.run.tasks)) this.run.tasks = this.#mark([...this.run.tasks]);
    return this.run.tasks;
  }

  #item(turn: Turn, at: number): Item | undefined {
    const known = turn.items[at];
    if (!known || this.#fresh.has(known)) return known;
    const copy: Item = { ...known };
    if ('calls' in copy) copy.calls = [...copy.calls];
    if ('failures' in copy) copy.failures = [...copy.failures];
    turn.items[at] = this.#mark(copy);
    return copy;
  }

  #map<T>(known: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
    return this.#fresh.has(known) ? known : this.#mark(new Map(known));
  }

  #mark<T extends object>(value: T): T {
    this.#fresh.add(value);
    return value;
  }
}
