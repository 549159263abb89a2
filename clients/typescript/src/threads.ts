// Chats: said, followed, stopped, and their calls allowed or denied.

import { attendant } from './attend.js';
import { TurnFailed } from './errors.js';
import type { Approval, Frame, Message, Said, Say, Thread as Row, Threads as Page } from './generated/api.js';
import type { Transport } from './transport.js';
import { segment } from './wire.js';

export type Permission = 'allow' | 'allow_for_chat' | 'deny';

/** Allows or denies a call that waits for permission; `undefined` leaves it to somebody else. */
export type OnApproval = (approval: Approval) => Permission | undefined | Promise<Permission | undefined>;

export interface FollowThread {
  /** The number of a frame that came before. */
  since?: number | undefined;
  onApproval?: OnApproval | undefined;
  /** Ends the stream. */
  signal?: AbortSignal | undefined;
}

/** One message and all that follows it, to the answer. */
export class Turn {
  readonly id: string;
  /** The number of messages before it, while it waits. */
  readonly queuePosition: number | undefined;
  readonly #thread: Thread;
  readonly #since: number | undefined;

  constructor(thread: Thread, said: Said, since: number | undefined) {
    this.#thread = thread;
    this.#since = since;
    this.id = said.turnId;
    this.queuePosition = said.queuePosition;
  }

  /**
   * Its frames, each stored one exactly once and each word once, to the last, `chunk` with `done`. A message that waited
   * for others and was then refused has one frame, `error`.
   */
  async *stream(following: Omit<FollowThread, 'since'> = {}): AsyncGenerator<Frame, void, undefined> {
    for await (const frame of this.#thread.stream({ ...following, since: this.#since })) {
      if (!('turn_id' in frame) || frame.turn_id !== this.id) continue;
      yield frame;
      // A message that waited and was refused has only that to tell, which is not stored.
      if ((frame.type === 'chunk' && 'done' in frame) || (frame.type === 'error' && !('at' in frame))) return;
    }
  }

  /** Waits for the answer. Throws `TurnFailed` when it failed or was stopped. */
  async answer(following: Omit<FollowThread, 'since'> = {}): Promise<string> {
    let said = '';
    let reason = '';
    let status = 'FAILED';
    for await (const frame of this.stream(following)) {
      if (frame.type === 'message' && frame.role === 'assistant') said = frame.content;
      else if (frame.type === 'error') reason = frame.message;
      else if (frame.type === 'chunk' && 'done' in frame) status = frame.status;
    }
    if (status !== 'COMPLETED') throw new TurnFailed(status, reason, said);
    return said;
  }
}

/** A chat on the server. */
export class Thread {
  readonly id: string;
  readonly #transport: Transport;

  constructor(transport: Transport, id: string) {
    this.#transport = transport;
    this.id = id;
  }

  /** Sends a message. */
  async say(content: string, more: Omit<Say, 'content'> = {}): Promise<Turn> {
    // A message that waits has no number yet: its turn is looked for after what there is.
    const before = more.if_busy === 'queue' ? (await this.detail()).chatSeq : null;
    const body = { content, ...more };
    const said = await this.#transport.call('POST /api/threads/{id}/messages', { path: this.#path, body });
    return this.#turn(said, before ?? undefined);
  }

  /** Goes on with an answer that was cut at the output limit. */
  async goOn(): Promise<Turn> {
    return this.#turn(await this.#transport.call('POST /api/threads/{id}/continue', { path: this.#path }));
  }

  /**
   * Its frames from the first, or after number `since`: each stored one exactly once, each word once. It does not end by
   * itself: a thread may always go on.
   */
  async *stream({ since, onApproval, signal }: FollowThread = {}): AsyncGenerator<Frame, void, undefined> {
    const attend = onApproval ? this.#attendant(onApproval) : () => Promise.resolve();
    if (since !== undefined) await attend();
    for await (const frame of this.#transport.frames(`/api/threads/${segment(this.id)}/events`, { since, signal })) {
      if (frame.type === 'tool_approval_request') await attend();
      yield frame;
    }
  }

  /** The calls that wait for permission. */
  async approvals(): Promise<Approval[]> {
    const { approvals } = await this.#transport.call('GET /api/approvals');
    return approvals.filter(({ thread_id }) => thread_id === this.id);
  }

  /** Allows or denies a call. */
  async decide(approvalId: string, decision: Permission): Promise<void> {
    await this.#transport.call('POST /api/approvals/{id}', { path: { id: approvalId }, body: { decision } });
  }

  /** The messages so far. */
  async messages(): Promise<Message[]> {
    return (await this.#transport.call('GET /api/threads/{id}/messages', { path: this.#path })).messages;
  }

  /** Stops the running turn. */
  async stop(): Promise<void> {
    await this.#transport.call('POST /api/threads/{id}/stop', { path: this.#path });
  }

  /** Returns its state. */
  detail(): Promise<Row> {
    return this.#transport.call('GET /api/threads/{id}', { path: this.#path });
  }

  /** Erases it. */
  async delete(): Promise<void> {
    await this.#transport.call('DELETE /api/threads/{id}', { path: this.#path });
  }

  get #path(): { id: string } {
    return { id: this.id };
  }

  #turn(said: Said, before?: number): Turn {
    if (said.seq === undefined) return new Turn(this, said, before);
    return new Turn(this, said, said.seq > 0 ? said.seq - 1 : undefined);
  }

  #attendant(ask: OnApproval): () => Promise<void> {
    return attendant({
      patiently: (request) => this.#transport.patiently(request),
      open: () => this.approvals(),
      idOf: ({ approval_id }: Approval) => approval_id,
      ask,
      apply: (id, decision: Permission) => this.decide(id, decision),
    });
  }
}

/** The chats of the caller. */
export class Threads {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Begins a chat. */
  async create(title?: string): Promise<Thread> {
    const body = title === undefined ? {} : { title };
    return new Thread(this.#transport, (await this.#transport.call('POST /api/threads', { body })).id);
  }

  /** A chat by its id; nothing is asked of the server yet. */
  open(id: string): Thread {
    return new Thread(this.#transport, id);
  }

  /** The chats, or those with these words. */
  list(q?: string): Promise<Page> {
    return this.#transport.call('GET /api/threads', { query: { q } });
  }
}
