import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { KeyStore, type Said, type Tabs } from './key';

/** Tabs of one browser, each with a storage of its own. */
class Browser {
  readonly #listeners: { tab: number; heard: (said: Said) => void }[] = [];
  #tabs = 0;

  open(): Tabs {
    this.#tabs += 1;
    const tab = this.#tabs;
    return {
      say: (said) => {
        for (const { tab: other, heard } of this.#listeners) if (other !== tab) heard(said);
      },
      listen: (heard) => void this.#listeners.push({ tab, heard }),
    };
  }
}

describe('the key', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('is handed to a tab that is opened later, and forgotten by all at once', () => {
    const browser = new Browser();
    const first = new KeyStore(browser.open());
    first.use('secret');
    const second = new KeyStore(browser.open());
    expect(second.snapshot()).toEqual({ value: 'secret', isAsked: false });
    second.signOut();
    expect(first.snapshot()).toEqual({ value: null, isAsked: true });
    first.use('other');
    expect(second.snapshot()).toEqual({ value: 'other', isAsked: false });
  });

  it('is asked for only where no other tab has one, and one that was refused is not offered', () => {
    const browser = new Browser();
    const first = new KeyStore(browser.open());
    first.ask();
    expect(first.snapshot().isAsked).toBe(false);
    vi.runAllTimers();
    expect(first.snapshot().isAsked).toBe(true);
    first.use('wrong');
    first.ask();
    vi.runAllTimers();
    const second = new KeyStore(browser.open());
    expect(second.snapshot().value).toBeNull();
  });
});
