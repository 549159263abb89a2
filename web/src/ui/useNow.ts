import { createContext, useContext } from 'react';
import { Store, useStore } from '../store/store';

const TICK_MS = 1_000;

/** The time in milliseconds, once a second while there are listeners. */
class Clock extends Store<number> {
  constructor() {
    super(Date.now());
  }

  protected override start(): () => void {
    this.set(Date.now());
    const timer = setInterval(() => this.set(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }
}

const clock = new Clock();

/** The time shown below it, where that is not the present: that of a replay. */
export const FrozenNow = createContext<number | undefined>(undefined);

/** The time, once a second, from one clock for the whole page. */
export function useNow(): number {
  const frozen = useContext(FrozenNow);
  const now = useStore(clock);
  return frozen ?? now;
}
