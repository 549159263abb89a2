// Requests and streams over fetch: sends again what broke, and takes streams up where they broke.

import { Busy, NotConsort, Problem, problemOf, ServerError, Unreachable } from './errors.js';
import type { Frame, Requests } from './generated/api.js';
import {
  Absence,
  address,
  ATTEMPTS_MAX,
  CALL_MAX_MS,
  Decoder,
  PATIENCE_MS,
  PAUSE_FIRST_MS,
  Position,
  REPEATABLE,
  segment,
  SILENCE_MAX_MS,
} from './wire.js';

/** A request, such as `POST /api/runs/{id}/cancel`. */
export type Operation = keyof Requests;

/** The names in the path of a request. */
type Names<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;

/** The parts of a request: the values in its path, its query, headers and body. */
export type Call<O extends Operation> = {
  query?: Record<string, string | number | boolean | undefined>;
  headers?: Record<string, string>;
  signal?: AbortSignal;
} & ([Names<O>] extends [never] ? { path?: never } : { path: Record<Names<O>, string> }) &
  (Requests[O] extends { body: infer Body } ? { body?: Body } : { body?: never });

/** The parts of a request that has none: only one without names in its path may leave them out. */
export type Rest<O extends Operation> = [Names<O>] extends [never] ? [call?: Call<O>] : [call: Call<O>];

export type Answer<O extends Operation> = Requests[O]['answer'];

export interface Settings {
  /** The API key, where the server wants one. */
  key?: string | undefined;
  /** Milliseconds for one answer. */
  timeoutMs?: number;
  /** Milliseconds that a server may be away before a stream is given up. */
  patienceMs?: number;
  /** Another `fetch`. */
  fetch?: typeof fetch;
}

interface Received {
  status: number;
  media: string;
  text: string;
}

/** JSON, and what is text and nothing else. */
const ACCEPT = 'application/json, text/plain;q=0.5, text/markdown;q=0.5';

/** The frames of a stream that are wanted. */
export interface Following {
  /** The number of a frame that came before. */
  since?: number | undefined;
  /** Types wanted; all when absent. */
  only?: readonly string[] | undefined;
  /** Ends the stream. */
  signal?: AbortSignal | undefined;
}

export class Transport {
  readonly url: string;
  readonly #headers: Record<string, string>;
  readonly #timeoutMs: number;
  readonly #patienceMs: number;
  readonly #fetch: typeof fetch;

  constructor(url: string, settings: Settings) {
    this.url = address(url);
    this.#headers = settings.key ? { authorization: `Bearer ${settings.key}` } : {};
    this.#timeoutMs = settings.timeoutMs ?? CALL_MAX_MS;
    this.#patienceMs = settings.patienceMs ?? PATIENCE_MS;
    this.#fetch = settings.fetch ?? ((input, init) => fetch(input, init));
  }

  /** Sends a request and returns its answer. */
  async call<O extends Operation>(operation: O, ...[call]: Rest<O>): Promise<Answer<O>> {
    const [method = '', template = ''] = operation.split(' ');
    const { path = {}, query = {}, headers = {}, body, signal } = (call ?? {}) as Call<Operation>;
    const places = path as Record<string, string>;
    const url = new URL(this.url + template.replaceAll(/\{(\w+)\}/g, (_, name: string) => segment(places[name] ?? '')));
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const sent: Record<string, string> = { accept: ACCEPT, ...this.#headers, ...headers };
    // What is sent again after a broken connection is done once.
    if (method === 'POST') sent['idempotency-key'] ??= crypto.randomUUID();
    if (body !== undefined) sent['content-type'] = 'application/json';
    const request: RequestInit = {
      method,
      headers: sent,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    const { status, media, text } = await this.#answer(url, request, signal);
    if (status >= 400) throw problemOf(status, text, this.url);
    const isText = media.startsWith('text/plain') || media.startsWith('text/markdown');
    return (text === '' ? undefined : isText ? text : this.#json(text)) as Answer<O>;
  }

  #json(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch (error) {
      throw new NotConsort(`${this.url} answers with something that is not JSON`, { cause: error });
    }
  }

  async #answer(url: URL, request: RequestInit, outer?: AbortSignal): Promise<Received> {
    for (let attempt = 1; ; attempt += 1) {
      const limit = AbortSignal.timeout(this.#timeoutMs);
      try {
        const signal = outer ? AbortSignal.any([outer, limit]) : limit;
        const response = await this.#fetch(url, { ...request, signal });
        const media = response.headers.get('content-type') ?? '';
        return { status: response.status, media, text: await response.text() };
      } catch (error) {
        if (outer?.aborted) throw error;
        if (attempt >= ATTEMPTS_MAX || !REPEATABLE.includes(request.method ?? '')) throw this.#unreachable(error);
      }
      await pause(PAUSE_FIRST_MS * attempt, outer);
    }
  }

  /** Returns the answer to a request, once the server is there: in the middle of something long it may be away. */
  async patiently<T>(request: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const absence = new Absence(this.#patienceMs);
    for (;;) {
      try {
        return await request();
      } catch (error) {
        const wait = mayPass(error) ? absence.nextPause(Date.now()) : undefined;
        if (wait === undefined) throw error;
        await pause(wait, signal);
      }
    }
  }

  /**
   * The frames of a stream after number `since`, each once, over as many connections as it takes. It ends with the frame
   * `run_result`; a thread's stream does not end by itself.
   */
  async *frames(path: string, { since, only = [], signal }: Following): AsyncGenerator<Frame, void, undefined> {
    const position = new Position(since);
    const absence = new Absence(this.#patienceMs);
    const url = new URL(this.url + path);
    if (only.length > 0) url.searchParams.set('events', only.join(','));
    for (;;) {
      let reason: Error = new Unreachable(`${this.url} ended the stream`);
      try {
        for await (const frame of this.#connection(url, position, signal)) {
          absence.over();
          yield frame;
          if (frame.type === 'run_result') return;
        }
      } catch (error) {
        if (!mayPass(error)) throw error;
        reason = error;
      }
      const wait = absence.nextPause(Date.now(), position.openedAt);
      if (wait === undefined) {
        throw new Unreachable(`${this.url} has been away too long; at last: ${reason.message}`, { cause: reason });
      }
      await pause(wait, signal);
    }
  }

  async *#connection(url: URL, position: Position, outer?: AbortSignal): AsyncGenerator<Frame, void, undefined> {
    const inner = new AbortController();
    const signal = outer ? AbortSignal.any([outer, inner.signal]) : inner.signal;
    const headers: Record<string, string> = { ...this.#headers, accept: 'text/event-stream' };
    if (position.last !== undefined) headers['last-event-id'] = String(position.last);
    const silent = new Watchdog(inner);
    position.openedAt = undefined;
    try {
      const response = await this.#fetch(url, { headers, signal }).catch((error: unknown) => this.#lost(error, outer));
      if (!response.ok || !response.body) throw problemOf(response.status, await response.text(), this.url);
      position.openedAt = Date.now();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      const decoder = new Decoder();
      for (;;) {
        const { done, value } = await reader.read().catch((error: unknown) => this.#lost(error, outer));
        if (done) return;
        silent.heard();
        for (const event of decoder.feed(value)) {
          for (const frame of position.take(event)) {
            // One with a turn tells of that turn.
            if (frame.type === 'error' && event.id === undefined && !('turn_id' in frame))
              throw streamError(event.data);
            yield frame;
          }
        }
      }
    } finally {
      silent.stop();
      inner.abort();
    }
  }

  #lost(error: unknown, outer?: AbortSignal): never {
    throw outer?.aborted ? error : this.#unreachable(error);
  }

  #unreachable(error: unknown): Unreachable {
    return new Unreachable(`cannot reach ${this.url}: ${reasonOf(error)}`, { cause: error });
  }
}

/** Whether the same may succeed a little later. */
function mayPass(error: unknown): error is Error {
  return error instanceof Unreachable || error instanceof ServerError || error instanceof Busy;
}

/** Ends a connection that has been silent for too long. */
class Watchdog {
  readonly #connection: AbortController;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(connection: AbortController) {
    this.#connection = connection;
    this.heard();
  }

  heard(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#connection.abort(), SILENCE_MAX_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

/** The error that ends a stream: what is damaged stays so, the rest may pass. */
function streamError(data: string): Problem {
  const body = JSON.parse(data) as { code?: string };
  return body.code === 'STORAGE_DAMAGED' ? new Problem(500, body) : new ServerError(500, body);
}

/** The innermost reason: `fetch` itself only says that it failed. */
function reasonOf(error: unknown): string {
  let inner = error;
  while (inner instanceof Error && inner.cause) inner = inner.cause;
  return inner instanceof Error ? inner.message : String(inner);
}

function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}
