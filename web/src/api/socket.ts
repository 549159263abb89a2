// One socket to the server. It connects again whenever it is lost, until it is closed.

import type { ClientFrame, ServerFrame } from '../../../clients/typescript/src/generated/frames';
import { key } from './key';
import { Reconnect } from './reconnect';

export interface Socket {
  /** Sends a frame; returns whether there was a connection to send it on. */
  send: (frame: ClientFrame) => boolean;
  close: () => void;
}

export interface SocketHandlers {
  /** Connected, the first time or again. */
  opened: (socket: Socket) => void;
  received: (frame: ServerFrame) => void;
  lost?: () => void;
}

/** The key travels as a subprotocol, because a browser's socket sends no headers. */
function protocols(): string[] {
  const value = key.current();
  if (!value) return ['consort'];
  const bytes = String.fromCharCode(...new TextEncoder().encode(value));
  return ['consort', `key.${btoa(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`];
}

export function openSocket({ opened, received, lost }: SocketHandlers): Socket {
  const reconnect = new Reconnect();
  let current: WebSocket | undefined;
  let isClosed = false;
  const socket: Socket = {
    send: (frame) => {
      if (current?.readyState !== WebSocket.OPEN) return false;
      current.send(JSON.stringify(frame));
      return true;
    },
    close: () => {
      isClosed = true;
      current?.close();
      reconnect.close();
    },
  };
  const connect = (): void => {
    reconnect.connecting();
    const attempt = new WebSocket(
      `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws`,
      protocols(),
    );
    const watch = (): void => reconnect.watch(() => attempt.close());
    current = attempt;
    attempt.addEventListener('open', () => {
      reconnect.connected();
      opened(socket);
      watch();
    });
    attempt.addEventListener('message', ({ data }: MessageEvent<string>) => {
      watch();
      received(JSON.parse(data) as ServerFrame);
    });
    attempt.addEventListener('close', () => {
      lost?.();
      if (!isClosed) reconnect.lost(connect);
    });
  };
  connect();
  return socket;
}
