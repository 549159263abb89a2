import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connections } from './connections';
import { Reconnect } from './reconnect';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

describe('a kept connection', () => {
  it('waits longer after every failure in a row, and shortly after it was connected', () => {
    const reconnect = new Reconnect();
    const pauses: number[] = [];
    const fail = (): void => {
      const lostAt = Date.now();
      let retriedAt = 0;
      reconnect.lost(() => {
        retriedAt = Date.now();
      });
      vi.runAllTimers();
      pauses.push(retriedAt - lostAt);
    };
    for (let times = 0; times < 8; times += 1) fail();
    reconnect.connected();
    fail();
    reconnect.close();
    expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000, 500]);
  });

  it('counts as dead after a silence, unless something came or it was closed', () => {
    const reconnect = new Reconnect();
    let deaths = 0;
    const watch = (): void => reconnect.watch(() => (deaths += 1));
    watch();
    vi.advanceTimersByTime(39_999);
    watch();
    vi.advanceTimersByTime(39_999);
    expect(deaths).toBe(0);
    vi.advanceTimersByTime(1);
    expect(deaths).toBe(1);
    watch();
    reconnect.close();
    vi.runAllTimers();
    expect(deaths).toBe(1);
  });

  it('is shown by the worst of all there are, until it is closed', () => {
    const [one, other] = [new Reconnect(), new Reconnect()];
    one.connected();
    other.connected();
    expect(connections.snapshot().state).toBe('live');
    one.lost(() => undefined);
    other.connecting();
    expect(connections.snapshot()).toMatchObject({ state: 'lost', retryAt: Date.now() + 500 });
    one.close();
    expect(connections.snapshot().state).toBe('connecting');
    other.close();
    expect(connections.snapshot().state).toBe('live');
  });
});
