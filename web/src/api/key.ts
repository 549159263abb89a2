// The API key, kept for this tab only, and whether the server has asked for one.

import { Store } from '../store/store';

const NAME = 'consort.key';

interface KeyState {
  value: string | null;
  /** The server refused the key there is, or wants one. */
  isAsked: boolean;
}

class KeyStore extends Store<KeyState> {
  constructor() {
    super({ value: globalThis.sessionStorage?.getItem(NAME) ?? null, isAsked: false });
  }

  use(value: string): void {
    sessionStorage.setItem(NAME, value);
    this.set({ value, isAsked: false });
  }

  ask(): void {
    if (!this.snapshot().isAsked) this.update({ isAsked: true });
  }
}

export const key = new KeyStore();
