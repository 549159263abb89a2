// The API key, kept for this tab only, and whether the server has asked for one.

import { Store } from '../store/store';

const NAME = 'consort.key';

interface KeyState {
  value: string | null;
  /** The server refused the key there is, or wants one. */
  isAsked: boolean;
}

/** Unit tests have no storage. */
const read = (): string | null => globalThis.sessionStorage?.getItem(NAME) ?? null;

class KeyStore extends Store<KeyState> {
  constructor() {
    super({ value: read(), isAsked: false });
  }

  /** The key for the next request. The tab's storage may have been cleared since the last. */
  readonly current = read;

  use(value: string): void {
    sessionStorage.setItem(NAME, value);
    this.set({ value, isAsked: false });
  }

  ask(): void {
    if (!this.snapshot().isAsked) this.set({ value: read(), isAsked: true });
  }
}

export const key = new KeyStore();
