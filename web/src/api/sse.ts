// A resumable stream of server-sent events over fetch, because EventSource cannot send a key. It reconnects until it is
// stopped or its end has come, each time from where it was.

import { authorized, problemOf, Problem, unreachable } from './client';
import { link, type LinkId } from './link';

/** Silence after which a connection counts as dead; the server sends a comment every 15 s. */
const SILENCE_MS = 40_000;
const WAITS_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000];

export interface Following {
  /** Where to connect, asked anew for every connection. */
  url: () => string;
  /** Called with the data of each event; answers whether the stream is over. */
  take: (data: string) => boolean;
  /** Called when the server refuses for good. */
  refused: (problem: Problem) => void;
}

export function follow(following: Following): () => void {
  const stop = new AbortController();
  void run(following, stop.signal);
  return () => stop.abort();
}

async function run(following: Following, signal: AbortSignal): Promise<void> {
  const id = link.open();
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      if (
        await connect(following, signal, () => {
          failures = 0;
          link.set(id, { state: 'live' });
        })
      )
        break;
    } catch (error) {
      if (error instanceof Problem && !error.isUnreachable && error.status < 500) {
        if (error.status !== 401) following.refused(error);
        break;
      }
    }
    if (signal.aborted) break;
    await pause(id, failures, signal);
  }
  link.close(id);
}

async function pause(id: LinkId, failures: number, signal: AbortSignal): Promise<void> {
  const wait = WAITS_MS[Math.min(failures, WAITS_MS.length - 1)] ?? 0;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(done, wait);
    signal.addEventListener('abort', done, { once: true });
    link.set(id, { state: 'lost', retryAt: Date.now() + wait, retry: done });
  });
  link.set(id, { state: 'connecting' });
}

/** One connection; answers whether the stream is over. */
async function connect({ url, take }: Following, outer: AbortSignal, live: () => void): Promise<boolean> {
  const inner = new AbortController();
  const stop = (): void => inner.abort();
  outer.addEventListener('abort', stop, { once: true });
  let watchdog = setTimeout(stop, SILENCE_MS);
  try {
    const headers = authorized({ accept: 'text/event-stream' });
    const response = await fetch(url(), { headers, signal: inner.signal }).catch(() => {
      throw unreachable();
    });
    if (!response.ok || !response.body) throw await problemOf(response);
    live();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const parse = parser(take);
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return false;
      clearTimeout(watchdog);
      watchdog = setTimeout(stop, SILENCE_MS);
      if (parse(value)) {
        stop();
        return true;
      }
    }
  } finally {
    clearTimeout(watchdog);
    outer.removeEventListener('abort', stop);
  }
}

/** Takes text as it comes and hands on the data of whole events. */
export function parser(take: (data: string) => boolean): (text: string) => boolean {
  let rest = '';
  let data: string[] = [];
  return (text) => {
    rest += text;
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      const line = rest.slice(0, end).replace(/\r$/, '');
      rest = rest.slice(end + 1);
      if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
      if (line !== '' || data.length === 0) continue;
      const event = data.join('\n');
      data = [];
      if (take(event)) return true;
    }
    return false;
  };
}
