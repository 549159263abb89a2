import { useMemo } from 'react';
import { useOptionalStore } from '../store/store';
import { type OpenedThread, ThreadStore } from './store';

const UNOPENED: OpenedThread = {};

/** The thread, as long as the component is there; nothing of it without an id. */
export function useThread(id: string | undefined): OpenedThread {
  const store = useMemo(() => (id === undefined ? undefined : new ThreadStore(id)), [id]);
  return useOptionalStore(store, UNOPENED);
}
