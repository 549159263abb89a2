import { useMemo } from 'react';
import { useOptionalStore } from '../store/store';
import { type OpenedRun, RunStore, UNOPENED } from './store';

export interface FollowedRun extends OpenedRun {
  extend: () => void;
}

/** The run, as long as the component is there; nothing of it without an id. */
export function useRun(runId: string | undefined): FollowedRun {
  const store = useMemo(() => (runId === undefined ? undefined : new RunStore(runId)), [runId]);
  const opened = useOptionalStore(store, UNOPENED);
  return { ...opened, extend: () => store?.extend() };
}
