// A run being changed: its parts are copied when they are first touched, so that the state before stays as it was.

import type { Review } from '../api/types';
import type { StoredFrame } from './frame';
import type {
  Call,
  Chore,
  Conversation,
  Directive,
  Instance,
  Item,
  Note,
  ReviewItem,
  Round,
  RunState,
  Task,
  Tone,
  Totals,
} from './state';

/** Notes kept about the run as a whole. */
const NOTES_MAX = 500;

export class RunDraft {
  readonly run: RunState;
  readonly #copied = new Set<object>();

  constructor(state: RunState) {
    this.run = { ...state };
  }

  task(index: number): Task | undefined {
    const known = this.run.tasks[index - 1];
    if (!known || this.#copied.has(known)) return known;
    const copy = this.#mark({ ...known });
    this.#tasks()[index - 1] = copy;
    return copy;
  }

  /** Changes what is known of a task for one item, or in one round. */
  setInstance(taskIndex: number, id: string, change: Partial<Instance>): void {
    const task = this.task(taskIndex);
    if (!task) return;
    const known = task.instances ?? [];
    const isKnown = known.some((instance) => instance.id === id);
    task.instances = isKnown
      ? known.map((instance) => (instance.id === id ? { ...instance, ...change } : instance))
      : [...known, { id, status: 'PENDING', tokens: 0, toolCalls: 0, ...change }];
  }

  setTasks(tasks: Task[]): void {
    this.run.tasks = this.#mark(tasks);
  }

  addTask(task: Task): Task {
    this.#tasks().push(this.#mark(task));
    return task;
  }

  /** The conversation, to be changed. */
  conversation(id: string): Conversation | undefined {
    const known = this.run.conversations.get(id);
    if (!known || this.#copied.has(known)) return known;
    return this.addConversation({ ...known, items: [...known.items] });
  }

  addConversation(conversation: Conversation): Conversation {
    const conversations = this.#map(this.run.conversations) as Map<string, Conversation>;
    this.run.conversations = conversations.set(conversation.id, this.#mark(conversation));
    return conversation;
  }

  /** The last round of a conversation, to be changed. */
  round(conversation: Conversation | undefined): Round | undefined {
    if (!conversation) return undefined;
    const at = conversation.items.findLastIndex((item) => item.kind === 'round');
    return this.#item(conversation, at) as Round | undefined;
  }

  /** The last item of a conversation that calls tools, to be changed. */
  caller(conversation: Conversation | undefined): Round | Chore | undefined {
    if (!conversation) return undefined;
    const at = conversation.items.findLastIndex((item) => item.kind === 'round' || item.kind === 'chore');
    return this.#item(conversation, at) as Round | Chore | undefined;
  }

  call(conversation: Conversation | undefined, id: string): Call | undefined {
    if (!conversation) return undefined;
    const at = conversation.items.findLastIndex((item) => 'calls' in item && item.calls.some((call) => call.id === id));
    const caller = this.#item(conversation, at) as Round | Chore | undefined;
    const position = caller?.calls.findIndex((call) => call.id === id) ?? -1;
    const known = caller?.calls[position];
    if (!caller || !known) return undefined;
    const copy = { ...known };
    caller.calls[position] = copy;
    return copy;
  }

  review(conversation: Conversation | undefined, reviewId: string): ReviewItem | undefined {
    if (!conversation) return undefined;
    const at = conversation.items.findIndex((item) => item.kind === 'review' && item.reviewId === reviewId);
    return this.#item(conversation, at) as ReviewItem | undefined;
  }

  reviews(): Map<string, Review> {
    this.run.reviews = this.#map(this.run.reviews);
    return this.run.reviews as Map<string, Review>;
  }

  directives(): Map<string, Directive> {
    this.run.directives = this.#map(this.run.directives);
    return this.run.directives as Map<string, Directive>;
  }

  addNote(frame: StoredFrame, tone: Tone, text: string): void {
    const note: Note = { seq: frame.seq, at: frame.at, tone, text };
    this.run.notes = [...this.run.notes, note].slice(-NOTES_MAX);
  }

  /** The totals, to be changed; none when they count this frame already. */
  totals(frame: StoredFrame): Totals | undefined {
    if (frame.seq < this.run.counted) return undefined;
    this.run.totals = { ...this.run.totals };
    return this.run.totals;
  }

  #tasks(): Task[] {
    if (!this.#copied.has(this.run.tasks)) this.run.tasks = this.#mark([...this.run.tasks]);
    return this.run.tasks;
  }

  #item(conversation: Conversation, at: number): Item | undefined {
    const known = conversation.items[at];
    if (!known || this.#copied.has(known)) return known;
    const copy: Item = { ...known };
    if ('calls' in copy) copy.calls = [...copy.calls];
    if ('failures' in copy) copy.failures = [...copy.failures];
    conversation.items[at] = this.#mark(copy);
    return copy;
  }

  #map<T>(known: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
    return this.#copied.has(known) ? known : this.#mark(new Map(known));
  }

  #mark<T extends object>(value: T): T {
    this.#copied.add(value);
    return value;
  }
}
