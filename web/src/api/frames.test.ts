import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { followFrames } from './frames';

interface Numbered {
  seq: number;
  isLast?: true;
}

const events = (...frames: Numbered[]): Uint8Array =>
  new TextEncoder().encode(frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join(''));

/** One connection of the fake server, which a test feeds. */
let connection: ReadableStreamDefaultController<Uint8Array>;
let urls: string[];
let applied: number[][];
let next: number;

beforeEach(() => {
  vi.useFakeTimers();
  [urls, applied, next] = [[], [], 0];
  vi.stubGlobal('fetch', (url: string) => {
    urls.push(url);
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        connection = controller;
      },
    });
    return Promise.resolve(new Response(body));
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const follow = (): (() => void) =>
  followFrames<Numbered>({
    url: () => `/events?from=${next}`,
    apply: (frames) => {
      applied.push(frames.map(({ seq }) => seq));
      next = (frames.at(-1)?.seq ?? 0) + 1;
    },
    isLast: ({ isLast }) => isLast === true,
    refused: () => undefined,
  });

describe('a stream of frames', () => {
  it('is applied in batches, and whole ones at once', async () => {
    const stop = follow();
    await vi.advanceTimersByTimeAsync(0);
    connection.enqueue(events({ seq: 0 }, { seq: 1 }));
    await vi.advanceTimersByTimeAsync(39);
    connection.enqueue(events({ seq: 2 }));
    expect(applied).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(applied).toEqual([[0, 1, 2]]);
    connection.enqueue(events(...Array.from({ length: 1_001 }, (_, seq) => ({ seq }))));
    await vi.advanceTimersByTimeAsync(0);
    expect(applied.map(({ length }) => length)).toEqual([3, 1_000]);
    stop();
    await vi.advanceTimersByTimeAsync(100);
    expect(applied.map(({ length }) => length)).toEqual([3, 1_000]);
  });

  it('goes on after a loss from where it was, with everything applied before', async () => {
    const stop = follow();
    await vi.advanceTimersByTimeAsync(0);
    connection.enqueue(events({ seq: 0 }, { seq: 1 }));
    connection.close();
    await vi.advanceTimersByTimeAsync(500);
    expect([applied, urls]).toEqual([[[0, 1]], ['/events?from=0', '/events?from=2']]);
    stop();
  });

  it('ends with its last frame', async () => {
    follow();
    await vi.advanceTimersByTimeAsync(0);
    connection.enqueue(events({ seq: 0 }, { seq: 1, isLast: true }));
    await vi.advanceTimersByTimeAsync(60_000);
    expect([applied, urls.length]).toEqual([[[0, 1]], 1]);
  });
});
