import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { type Opened, RunStore } from '../../run/store';

const NOTHING: Opened = { progress: 0, extending: false };
const never = (): (() => void) => () => undefined;

/** The run that is watched, if one is. */
export function useWatched(runId: string | undefined): Opened {
  const store = useMemo(() => (runId === undefined ? undefined : new RunStore(runId)), [runId]);
  useEffect(() => {
    store?.open();
    return () => store?.close();
  }, [store]);
  return useSyncExternalStore(store?.subscribe ?? never, store?.snapshot ?? (() => NOTHING));
}
