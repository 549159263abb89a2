// One socket to the server, kept: it connects again whenever it is lost, until it is closed.

import { key } from './key';
import { link } from './link';

const WAITS_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000];
/** Silence after which the socket counts as dead; the server sends a heartbeat every 15 s. */
const SILENCE_MS = 40_000;

export interface Wire {
  /** Sends a frame; answers whether there was somebody to send it to. */
  send: (frame: object) => boolean;
  close: () => void;
}

export interface Listening {
  /** Connected, the first time or again. */
  opened: (wire: Wire) => void;
  /** A frame, as text: most need not be read further. */
  told: (data: string) => void;
  lost?: () => void;
}

function protocols(): string[] {
  const value = key.get();
  if (!value) return ['consort'];
  const bytes = String.fromCharCode(...new TextEncoder().encode(value));
  return ['consort', `key.${btoa(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`];
}

export function openSocket({ opened, told, lost }: Listening): Wire {
  const id = link.open();
  let socket: WebSocket | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let stopped = false;
  const wire: Wire = {
    send: (frame) => {
      if (socket?.readyState !== WebSocket.OPEN) return false;
      socket.send(JSON.stringify(frame));
      return true;
    },
    close: () => {
      stopped = true;
      clearTimeout(timer);
      socket?.close();
      link.close(id);
    },
  };
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
      link.set(id, { state: 'live' });
      opened(wire);
      silence();
    });
    socket.addEventListener('message', ({ data }: MessageEvent<string>) => {
      silence();
      told(data);
    });
    socket.addEventListener('close', () => {
      lost?.();
      if (stopped) return;
      const wait = WAITS_MS[Math.min(failures, WAITS_MS.length - 1)] ?? 0;
      failures += 1;
      clearTimeout(timer);
      timer = setTimeout(connect, wait);
      link.set(id, { state: 'lost', retryAt: Date.now() + wait, retry: connect });
    });
  };
  connect();
  return wire;
}
