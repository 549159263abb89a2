// The parts that read and decide without waiting: addresses, server-sent events, each frame once, pauses.

import { NotConsort } from './errors.js';
import type { Frame } from './generated/api.js';
import type { ServerChunk, ServerLlmCompleted, ServerMessage } from './generated/frames.js';

export const DEFAULT_URL = 'http://127.0.0.1:7329';
/** Milliseconds for an answer: longer than any tool called directly may take. */
export const CALL_MAX_MS = 60_000;
/** Milliseconds that a stream may be silent: the server sends a sign of life every 15 s. */
export const SILENCE_MAX_MS = 60_000;
/** Milliseconds that a server may be away before a stream is given up. */
export const PATIENCE_MS = 30_000;
/** Milliseconds before the first attempt to connect again; they double up to the last. */
export const PAUSE_FIRST_MS = 100;
const PAUSE_MAX_MS = 2_000;
/** Attempts at a request whose connection breaks, of those methods that do nothing twice: a POST has one key. */
export const ATTEMPTS_MAX = 3;
export const REPEATABLE = ['GET', 'POST'];
/** Characters of one event; the largest holds a whole conversation. */
export const EVENT_MAX = 64 * 1024 * 1024;

/** A value as one segment of a path. */
export function segment(text: string): string {
  if (['', '.', '..'].includes(text)) throw new TypeError(`'${text}' cannot be a part of an address`);
  return encodeURIComponent(text);
}

/** The server's address without a slash at its end. */
export function address(url: string): string {
  if (!/^https?:\/\/[^/]/.test(url)) {
    throw new TypeError(`'${url}' is not the address of a server: it must begin with http:// or https://`);
  }
  return url.trim().replace(/\/+$/, '');
}

/** One server-sent event. */
export interface ServerSentEvent {
  id: number | undefined;
  kind: string;
  data: string;
}

/** Text in any pieces becomes events; what is not whole yet waits. */
export class Decoder {
  /** The pieces of a line that has no end yet; joined once, however many there are. */
  #rest: string[] = [];
  #lines: string[] = [];
  #size = 0;

  /** The events that this text completes. */
  feed(text: string): ServerSentEvent[] {
    this.#size += text.length;
    if (this.#size > EVENT_MAX) throw new NotConsort(`an event of more than ${EVENT_MAX} characters`);
    const lines = text.split('\n');
    const rest = lines.pop() ?? '';
    if (lines.length === 0) {
      this.#rest.push(rest);
      return [];
    }
    lines[0] = [...this.#rest, lines[0]].join('');
    this.#rest = [rest];
    return lines.flatMap((line) => this.#line(line.replace(/\r$/, '')));
  }

  #line(line: string): ServerSentEvent[] {
    if (line !== '') {
      this.#lines.push(line);
      return [];
    }
    const event = eventOf(this.#lines);
    this.#lines = [];
    this.#size = 0;
    return event ? [event] : [];
  }
}

function eventOf(lines: string[]): ServerSentEvent | undefined {
  const data: string[] = [];
  const fields: Record<string, string> = {};
  for (const line of lines) {
    const end = line.indexOf(':');
    const name = end < 0 ? line : line.slice(0, end);
    const value = end < 0 ? '' : line.slice(end + 1).replace(/^ /, '');
    if (name === 'data') data.push(value);
    else fields[name] = value;
  }
  if (data.length === 0) return undefined;
  const number = fields['id'] ?? '';
  return {
    id: /^\d+$/.test(number) ? Number(number) : undefined,
    kind: fields['event'] ?? '',
    data: data.join('\n'),
  };
}

/** Words of a model, which have a place in its answer. */
type Words = Extract<ServerChunk, { call_id: string }> & { offset: number };

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The frames of a stream that were received, so that nothing comes twice. */
export class Position {
  /** The number of the last stored frame. */
  last: number | undefined;
  /** The time since which the connection is open. */
  openedAt: number | undefined;
  /** The bytes received of the words of each model call, thoughts apart. */
  readonly #said = new Map<string, number>();

  constructor(last?: number) {
    this.last = last;
  }

  /** The frame in an event unless it came before; in front of it words that nobody was connected to hear. */
  take({ id, data }: ServerSentEvent): Frame[] {
    const frame = JSON.parse(data) as Frame;
    if (id === undefined) {
      const isWords = frame.type === 'chunk' && 'call_id' in frame && frame.offset !== undefined;
      return isWords ? this.#words(frame as Words) : [frame];
    }
    if (this.last !== undefined && id <= this.last) return [];
    this.last = id;
    // An answer that asks for calls is a message at once.
    return frame.type === 'llm_completed' || frame.type === 'message' ? [...this.#missed(frame), frame] : [frame];
  }

  /** Words without those that came before a connection broke: the server begins with all that were said. */
  #words(frame: Words): Frame[] {
    const call = `${frame.thinking === true} ${frame.call_id}`;
    const words = encoder.encode(frame.content);
    const known = (this.#said.get(call) ?? 0) - frame.offset;
    if (known >= words.length) return [];
    this.#said.set(call, frame.offset + words.length);
    if (known <= 0) return [frame];
    return [{ ...frame, content: decoder.decode(words.subarray(known)), offset: frame.offset + known }];
  }

  /** The words of a call that was over before the connection was back. */
  #missed(frame: ServerLlmCompleted | ServerMessage): Frame[] {
    const { thread_id, turn_id, call_id, content, chat_seq } = frame;
    if (call_id === undefined || call_id === null) return [];
    const { parent_id, depth } = frame.type === 'message' ? { parent_id: null, depth: 0 } : frame;
    return this.#words({ type: 'chunk', thread_id, turn_id, parent_id, depth, call_id, content, chat_seq, offset: 0 });
  }
}

/** The time that a server has been away, and the time to wait for it. */
export class Absence {
  readonly #patience: number;
  #since: number | undefined;
  #pause = PAUSE_FIRST_MS;

  constructor(patience: number) {
    this.#patience = patience;
  }

  /** The pause before the next attempt, or none when it has been away too long. */
  nextPause(now: number, openedAt?: number): number | undefined {
    // A connection that held for a while was one, though nothing may have happened meanwhile.
    if (openedAt !== undefined && now - openedAt > PAUSE_MAX_MS) this.over();
    this.#since ??= now;
    if (now - this.#since >= this.#patience) return undefined;
    const pause = this.#pause;
    this.#pause = Math.min(pause * 2, PAUSE_MAX_MS);
    return pause;
  }

  /** Something came: the next absence begins anew. */
  over(): void {
    this.#since = undefined;
    this.#pause = PAUSE_FIRST_MS;
  }
}
