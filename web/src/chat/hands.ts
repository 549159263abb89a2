// How a page acts in a conversation instead of only watching it: it offers tools of its own, says things with them at
// hand, and gives back what its calls came to. An answer is sent again after a loss until its turn has taken it.

import { Problem, unreachable } from '../api/client';
import { openSocket, type Wire } from '../api/socket';

/** How long a message may wait for the server to take it. */
const PATIENCE_MS = 15_000;

export interface Said {
  thread_id: string;
  turn_id: string;
}

interface Awaited {
  resolve: (said: Said) => void;
  reject: (problem: Problem) => void;
  frame: object;
  timer: ReturnType<typeof setTimeout>;
  isSent: boolean;
}

type Told = { type: string; request_id?: string; message?: string; code?: string } & Partial<Said>;

export class Hands {
  readonly #tools: object[];
  readonly #messages = new Map<string, Awaited>();
  readonly #answers = new Map<string, object>();
  #wire: Wire | undefined;
  #count = 0;

  constructor(tools: object[]) {
    this.#tools = tools;
  }

  open(): void {
    this.#wire = openSocket({
      opened: ({ send }) => {
        // What happens in runs is told elsewhere; the conversation's own frames come anyway.
        send({ type: 'subscribe', events: ['heartbeat'] });
        send({ type: 'ui_manifest', tools: this.#tools });
        for (const awaited of this.#messages.values()) if (!awaited.isSent) awaited.isSent = send(awaited.frame);
        for (const answer of this.#answers.values()) send(answer);
      },
      told: (data) => this.#told(data),
    });
  }

  close(): void {
    this.#wire?.close();
    for (const id of this.#messages.keys()) this.#settle(id, (awaited) => awaited.reject(unreachable()));
  }

  /** Says something; without a thread, a new one begins. */
  say(message: object): Promise<Said> {
    this.#count += 1;
    const id = `m${this.#count}`;
    const frame = { type: 'chat_message', request_id: id, ...message };
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#settle(id, (awaited) => awaited.reject(unreachable())), PATIENCE_MS);
      const isSent = this.#wire?.send(frame) ?? false;
      this.#messages.set(id, { resolve, reject, frame, timer, isSent });
    });
  }

  /** Gives back what a call came to. */
  answer(thread: string, call: string, result: string, isError: boolean): void {
    const frame = { type: 'tool_result', thread_id: thread, tool_call_id: call, result, is_error: isError };
    this.#answers.set(call, frame);
    this.#wire?.send(frame);
  }

  /** These calls still wait; what was answered besides has been taken. */
  waiting(calls: readonly string[]): void {
    for (const call of this.#answers.keys()) if (!calls.includes(call)) this.#answers.delete(call);
  }

  #told(data: string): void {
    if (!data.startsWith('{"type":"chat_ack"') && !data.startsWith('{"type":"error"')) return;
    const frame = JSON.parse(data) as Told;
    if (frame.request_id === undefined) return;
    this.#settle(frame.request_id, (awaited) => {
      if (frame.type === 'chat_ack')
        awaited.resolve({ thread_id: frame.thread_id ?? '', turn_id: frame.turn_id ?? '' });
      else
        awaited.reject(
          new Problem(400, { error: frame.code ?? 'UNKNOWN', message: frame.message ?? 'The server refused it' }),
        );
    });
  }

  #settle(id: string, how: (awaited: Awaited) => void): void {
    const awaited = this.#messages.get(id);
    if (!awaited) return;
    clearTimeout(awaited.timer);
    this.#messages.delete(id);
    how(awaited);
  }
}
