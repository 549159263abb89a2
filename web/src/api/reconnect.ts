// Keeping a connection: pauses between attempts, a watchdog for silence, and the state the page shows of it. The socket
// and the event streams use the same one.

import { connections } from './connections';

/** Pauses after the first, second, … failure in a row; the last one for all that follow. */
const PAUSES_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000];
/** Silence after which a connection counts as dead; the server sends a heartbeat every 15 s. */
const SILENCE_MS = 40_000;

type Timer = ReturnType<typeof setTimeout>;

export class Reconnect {
  readonly #id = connections.open();
  #failures = 0;
  #retryTimer: Timer | undefined;
  #watchdog: Timer | undefined;

  /** An attempt begins. */
  connecting(): void {
    clearTimeout(this.#retryTimer);
    connections.report(this.#id, { state: 'connecting' });
  }

  connected(): void {
    this.#failures = 0;
    connections.report(this.#id, { state: 'live' });
  }

  /** Calls `dead` unless something is received, which calls this again, or the connection is lost before. */
  watch(dead: () => void): void {
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(dead, SILENCE_MS);
  }

  /** The connection is gone: calls `retry` after a pause, or when a person asks for it. */
  lost(retry: () => void): void {
    clearTimeout(this.#watchdog);
    clearTimeout(this.#retryTimer);
    const pause = PAUSES_MS[Math.min(this.#failures, PAUSES_MS.length - 1)] ?? 0;
    this.#failures += 1;
    this.#retryTimer = setTimeout(retry, pause);
    connections.report(this.#id, { state: 'lost', retryAt: Date.now() + pause, retry });
  }

  close(): void {
    clearTimeout(this.#watchdog);
    clearTimeout(this.#retryTimer);
    connections.close(this.#id);
  }
}
