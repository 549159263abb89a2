// The socket of a page that takes part in a thread instead of only watching it: it offers tools of its own, sends
// messages, and returns the results of its calls. A result is sent again after a loss until its turn has taken it.

import { Problem, unreachable } from '../api/client';
import type { ClientFrame, ServerFrame } from '../../../clients/typescript/src/generated/frames';
import { openSocket, type Socket } from '../api/socket';

/** The time a message may wait for the server to take it. */
const ACK_TIMEOUT_MS = 15_000;

type Sent<T extends ClientFrame['type']> = Extract<ClientFrame, { type: T }>;
type Received<T extends ServerFrame['type']> = Extract<ServerFrame, { type: T }>;

export type OfferedTool = Sent<'ui_manifest'>['tools'][number];
export type ChatAck = Pick<Received<'chat_ack'>, 'thread_id' | 'turn_id'>;
type Message = Omit<Sent<'chat_message'>, 'type' | 'request_id'>;

interface Pending {
  resolve: (ack: ChatAck) => void;
  reject: (problem: Problem) => void;
  frame: Sent<'chat_message'>;
  timer: ReturnType<typeof setTimeout>;
  isSent: boolean;
}

export class ChatSocket {
  readonly #tools: OfferedTool[];
  readonly #messages = new Map<string, Pending>();
  readonly #results = new Map<string, Sent<'tool_result'>>();
  #socket: Socket | undefined;
  #count = 0;

  constructor(tools: OfferedTool[]) {
    this.#tools = tools;
  }

  open(): void {
    this.#socket = openSocket({
      opened: ({ send }) => {
        // The frames of runs are followed elsewhere; those of the thread come without a subscription.
        send({ type: 'subscribe', events: ['heartbeat'] });
        send({ type: 'ui_manifest', tools: this.#tools });
        for (const pending of this.#messages.values()) if (!pending.isSent) pending.isSent = send(pending.frame);
        for (const result of this.#results.values()) send(result);
      },
      received: (frame) => this.#received(frame),
    });
  }

  close(): void {
    this.#socket?.close();
    for (const id of this.#messages.keys()) this.#settle(id, ({ reject }) => reject(unreachable()));
  }

  /** Sends a message; without a thread, a new one begins. */
  send(message: Message): Promise<ChatAck> {
    this.#count += 1;
    const id = `m${this.#count}`;
    const frame: Sent<'chat_message'> = { type: 'chat_message', request_id: id, ...message };
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#settle(id, (pending) => pending.reject(unreachable())), ACK_TIMEOUT_MS);
      const isSent = this.#socket?.send(frame) ?? false;
      this.#messages.set(id, { resolve, reject, frame, timer, isSent });
    });
  }

  /** Returns the result of a call. */
  answer(threadId: string, callId: string, result: string, isError: boolean): void {
    const frame: Sent<'tool_result'> = {
      type: 'tool_result',
      thread_id: threadId,
      tool_call_id: callId,
      result,
      is_error: isError,
    };
    this.#results.set(callId, frame);
    this.#socket?.send(frame);
  }

  /** Forgets the results of all calls but these, which still wait: the server has taken the others. */
  keepResults(callIds: readonly string[]): void {
    for (const id of this.#results.keys()) if (!callIds.includes(id)) this.#results.delete(id);
  }

  #received(frame: ServerFrame): void {
    if (frame.type === 'chat_ack') {
      this.#settle(frame.request_id, ({ resolve }) => resolve(frame));
    } else if (frame.type === 'error' && 'request_id' in frame) {
      const { code, message } = frame;
      this.#settle(frame.request_id, ({ reject }) => reject(new Problem(400, { error: code, message })));
    }
  }

  #settle(id: string | number | undefined, how: (pending: Pending) => void): void {
    const pending = typeof id === 'string' ? this.#messages.get(id) : undefined;
    if (!pending || typeof id !== 'string') return;
    clearTimeout(pending.timer);
    this.#messages.delete(id);
    how(pending);
  }
}
