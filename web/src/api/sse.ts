// A resumable stream of server-sent events over fetch, because EventSource cannot send a key. It reconnects, each time
// from where it was, until it is stopped, refused or at its end.

import { Decoder } from '../../../clients/typescript/src/wire';
import { authorized, problemOf, Problem, unreachable } from './client';
import { key } from './key';
import { Reconnect } from './reconnect';

export interface EventStream {
  /** The address to connect to, asked for before every connection. */
  url: () => string;
  /** Takes the data of one event; returns whether it was the last. */
  take: (data: string) => boolean;
  /** Called when the server refuses for good. */
  refused: (problem: Problem) => void;
}

/** Follows a stream; the function it returns stops it. */
export function follow(stream: EventStream): () => void {
  const stop = new AbortController();
  void keepConnected(stream, stop.signal);
  return () => stop.abort();
}

async function keepConnected(stream: EventStream, signal: AbortSignal): Promise<void> {
  const reconnect = new Reconnect();
  while (!signal.aborted) {
    try {
      if (await connect(stream, reconnect, signal)) break;
    } catch (error) {
      if (error instanceof Problem && !error.isUnreachable && error.status < 500) {
        // The page asks for a key by itself.
        if (error.status !== 401) stream.refused(error);
        break;
      }
    }
    if (signal.aborted) break;
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
      reconnect.lost(resolve);
    });
    reconnect.connecting();
  }
  reconnect.close();
}

/** One connection; returns whether the stream is at its end. */
async function connect({ url, take }: EventStream, reconnect: Reconnect, outer: AbortSignal): Promise<boolean> {
  const inner = new AbortController();
  const stop = (): void => inner.abort();
  outer.addEventListener('abort', stop, { once: true });
  reconnect.watch(stop);
  try {
    const sentKey = key.current();
    const headers = authorized({ accept: 'text/event-stream' }, sentKey);
    const response = await fetch(url(), { headers, signal: inner.signal }).catch(() => {
      throw unreachable();
    });
    if (!response.ok || !response.body) throw await problemOf(response, sentKey);
    reconnect.connected();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const decoder = new Decoder();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return false;
      reconnect.watch(stop);
      if (decoder.feed(value).some(({ data }) => take(data))) {
        stop();
        return true;
      }
    }
  } finally {
    outer.removeEventListener('abort', stop);
  }
}
