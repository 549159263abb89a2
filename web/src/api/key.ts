// The API key, and whether the server has asked for one. It is stored for this tab alone; tabs that are open at the same
// time hand it to each other, so that one sign-in and one sign-out are enough for all of them.

import { Store } from '../store/store';

const NAME = 'consort.key';
/** The time other tabs have to offer their key before a person is asked for one. */
const OFFER_MS = 250;

interface KeyState {
  value: string | null;
  /** The server refused the key there is, or wants one. */
  isAsked: boolean;
}

/** Said by one tab to all others. */
export type Said = { type: 'wanted' } | { type: 'used'; value: string } | { type: 'signed out' };

/** The other tabs of this browser. */
export interface Tabs {
  say: (said: Said) => void;
  listen: (heard: (said: Said) => void) => void;
}

/** Unit tests have no storage. */
const read = (): string | null => globalThis.sessionStorage?.getItem(NAME) ?? null;

export class KeyStore extends Store<KeyState> {
  readonly #tabs: Tabs | undefined;
  #asking: ReturnType<typeof setTimeout> | undefined;

  constructor(tabs: Tabs | undefined) {
    super({ value: read(), isAsked: false });
    this.#tabs = tabs;
    tabs?.listen((said) => this.#heard(said));
    if (read() === null) tabs?.say({ type: 'wanted' });
  }

  /** The key for the next request. The tab's storage may have been cleared since the last. */
  readonly current = read;

  use(value: string): void {
    this.#take(value);
    this.#tabs?.say({ type: 'used', value });
  }

  /** Asks the other tabs, then the person. */
  ask(): void {
    if (this.snapshot().isAsked || this.#asking !== undefined) return;
    if (!this.#tabs) return this.#askPerson();
    this.#tabs.say({ type: 'wanted' });
    this.#asking = setTimeout(() => this.#askPerson(), OFFER_MS);
  }

  signOut(): void {
    this.#forget();
    this.#tabs?.say({ type: 'signed out' });
  }

  #heard(said: Said): void {
    const { value, isAsked } = this.snapshot();
    if (said.type === 'signed out') this.#forget();
    else if (said.type === 'used') {
      if (said.value !== value || isAsked) this.#take(said.value);
      // A key that was refused here is not offered to others.
    } else if (value !== null && !isAsked && this.#asking === undefined) this.#tabs?.say({ type: 'used', value });
  }

  #askPerson(): void {
    this.#asking = undefined;
    this.set({ value: read(), isAsked: true });
  }

  #take(value: string): void {
    clearTimeout(this.#asking);
    this.#asking = undefined;
    globalThis.sessionStorage?.setItem(NAME, value);
    this.set({ value, isAsked: false });
  }

  #forget(): void {
    clearTimeout(this.#asking);
    this.#asking = undefined;
    globalThis.sessionStorage?.removeItem(NAME);
    this.set({ value: null, isAsked: true });
  }
}

/** None outside of a browser. */
function otherTabs(): Tabs | undefined {
  if (!('document' in globalThis)) return undefined;
  const channel = new BroadcastChannel(NAME);
  return {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has none, it is of one origin
    say: (said) => channel.postMessage(said),
    listen: (heard) => channel.addEventListener('message', ({ data }: MessageEvent<Said>) => heard(data)),
  };
}

export const key = new KeyStore(otherTabs());
