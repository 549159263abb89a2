// A value outside of React that components watch. Everything on this page that lives longer than a component, or
// changes without one, is a subclass.

import { useSyncExternalStore } from 'react';

export abstract class Store<T> {
  readonly #listeners = new Set<() => void>();
  #value: T;
  #stop: (() => void) | undefined;

  constructor(initial: T) {
    this.#value = initial;
  }

  readonly snapshot = (): T => this.#value;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#stop = this.start();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#stop?.();
      this.#stop = undefined;
    };
  };

  /** Called when the first listener comes; the function it returns is called when the last one has gone. */
  protected start(): (() => void) | undefined {
    return undefined;
  }

  protected set(value: T): void {
    this.#value = value;
    for (const listener of this.#listeners) listener();
  }

  /** Replaces some fields of the value. */
  protected update(change: Partial<T>): void {
    this.set({ ...this.#value, ...change });
  }
}

/** The value of a store, as long as the component is there. */
export function useStore<T>(store: Store<T>): T {
  return useSyncExternalStore(store.subscribe, store.snapshot);
}

/** The value of a store that may not exist, and `absent` in its place. `absent` must be the same object every time. */
export function useOptionalStore<T>(store: Store<T> | undefined, absent: T): T {
  return useSyncExternalStore(store?.subscribe ?? neverChanges, store?.snapshot ?? (() => absent));
}

const neverChanges = (): (() => void) => () => undefined;
