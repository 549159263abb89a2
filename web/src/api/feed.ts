// What happens on the server, over one socket: not to be folded, only to know that a list is out of date. Without it
// the lists ask by themselves.

import { key } from './key';
import { link } from './link';

/** Frames after which a list of runs or reviews looks different. */
const TYPES = [
  'run_accepted', 'ensemble_started', 'ensemble_completed', 'task_started', 'task_completed', 'task_failed', 'metrics_snapshot', 'cancel_requested', 'run_paused',
  'run_resumed', 'model_failed', 'model_retried', 'review_requested', 'review_decided', 'review_timed_out', 'review_closed',
];
const WAITS_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000];
/** Silence after which the socket counts as dead; the server sends a heartbeat every 15 s. */
const SILENCE_MS = 40_000;

let isLive = false;

/** Whether news come by themselves. */
export const feedIsLive = (): boolean => isLive;

function protocols(): string[] {
  const value = key.get();
  if (!value) return ['consort'];
  const bytes = String.fromCharCode(...new TextEncoder().encode(value));
  return ['consort', `key.${btoa(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`];
}

/** Connects, and again whenever it is lost, until stopped. `changed` is called when something happened. */
export function openFeed(changed: () => void): () => void {
  const id = link.open();
  let socket: WebSocket | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let stopped = false;

  const silence = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => socket?.close(), SILENCE_MS);
  };
  const connect = (): void => {
    clearTimeout(timer);
    link.set(id, { state: 'connecting' });
    socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws`, protocols());
    socket.addEventListener('open', () => {
      failures = 0;
      isLive = true;
      link.set(id, { state: 'live' });
      socket?.send(JSON.stringify({ type: 'subscribe', events: TYPES.concat('heartbeat') }));
      changed();
      silence();
    });
    socket.addEventListener('message', ({ data }: MessageEvent<string>) => {
      silence();
      // The kind comes first in every frame; most frames need not be read further.
      if (TYPES.some((type) => data.startsWith(`{"type":"${type}"`))) changed();
    });
    socket.addEventListener('close', () => {
      isLive = false;
      if (stopped) return;
      const wait = WAITS_MS[Math.min(failures, WAITS_MS.length - 1)] ?? 0;
      failures += 1;
      clearTimeout(timer);
      timer = setTimeout(connect, wait);
      link.set(id, { state: 'lost', retryAt: Date.now() + wait, retry: connect });
    });
  };
  connect();
  return () => {
    stopped = true;
    isLive = false;
    clearTimeout(timer);
    socket?.close();
    link.close(id);
  };
}
