import { describe, expect, it } from 'vitest';
import { Store } from './store';

class Counter extends Store<{ count: number; name: string }> {
  readonly log: string[] = [];

  constructor() {
    super({ count: 0, name: 'counter' });
  }

  protected override start(): () => void {
    this.log.push('started');
    return () => this.log.push('stopped');
  }

  increment(): void {
    this.update({ count: this.snapshot().count + 1 });
  }
}

describe('a store', () => {
  it('tells its listeners of every change and keeps the other fields', () => {
    const store = new Counter();
    const seen: number[] = [];
    const stop = store.subscribe(() => seen.push(store.snapshot().count));
    store.increment();
    store.increment();
    stop();
    store.increment();
    expect([seen, store.snapshot()]).toEqual([[1, 2], { count: 3, name: 'counter' }]);
  });

  it('runs while somebody listens, however many', () => {
    const store = new Counter();
    const stops = [store.subscribe(() => undefined), store.subscribe(() => undefined)];
    expect(store.log).toEqual(['started']);
    for (const stop of stops) stop();
    store.subscribe(() => undefined)();
    expect(store.log).toEqual(['started', 'stopped', 'started', 'stopped']);
  });

  it('gives the same value until it changes', () => {
    const store = new Counter();
    expect(store.snapshot()).toBe(store.snapshot());
  });
});
