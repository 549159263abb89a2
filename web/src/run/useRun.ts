import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { type Opened, RunStore } from './store';

export interface Followed extends Opened {
  extend: () => void;
}

/** The run, as long as the component is there. */
export function useRun(runId: string): Followed {
  const store = useMemo(() => new RunStore(runId), [runId]);
  useEffect(() => {
    store.open();
    return () => store.close();
  }, [store]);
  const opened = useSyncExternalStore(store.subscribe, store.snapshot);
  return { ...opened, extend: () => store.extend() };
}
