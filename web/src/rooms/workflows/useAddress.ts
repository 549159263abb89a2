import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { get } from '../../api/client';
import type { SavedWorkflow } from '../../api/types';
import { type ChangeParams, useParamsInAddress } from '../../ui/useParamsInAddress';

/** The storage of the last thread of a workflow, by its id. */
const LAST_THREAD = 'consort.editor.chat';

export type Tab = 'task' | 'chat' | 'versions';

export interface Address {
  /** The run that is watched. */
  run: string | undefined;
  /** The version that is looked at. */
  version: number | undefined;
  /** The thread beside the canvas. */
  thread: string | undefined;
  /** The task to choose when the page opens, by its place in the list. */
  task: number;
  tab: Tab;
  set: ChangeParams;
}

/** The parts of the page's state that are in its address. */
export function useAddress(): Address {
  const [params, set] = useParamsInAddress();
  const version = Number(params.get('version') ?? 0) || undefined;
  const tab = (['chat', 'versions'] as const).find((name) => name === params.get('panel')) ?? ('task' as const);
  return {
    run: params.get('run') ?? undefined,
    version,
    thread: params.get('chat') ?? undefined,
    task: Number(params.get('task') ?? 0),
    tab,
    set,
  };
}

/** Opens the thread the workflow had when it was last open here; returns a function that forgets it. */
export function useLastThread(id: string | undefined, { thread, set }: Address): () => void {
  useEffect(() => {
    const known = id === undefined ? null : localStorage.getItem(`${LAST_THREAD}.${id}`);
    if (known && thread === undefined) set({ chat: known });
  }, [id]); // oxlint-disable-line react/exhaustive-deps
  useEffect(() => {
    if (id !== undefined && thread !== undefined) localStorage.setItem(`${LAST_THREAD}.${id}`, thread);
  }, [id, thread]);
  return () => {
    localStorage.removeItem(`${LAST_THREAD}.${id}`);
    set({ chat: undefined });
  };
}

/** The version that is looked at. */
export function useVersion(
  id: string | undefined,
  version: number | undefined,
): { seen: SavedWorkflow | undefined; error: Error | null } {
  const { data, error } = useQuery({
    queryKey: ['workflow', id, 'version', version],
    queryFn: ({ signal }) => get<SavedWorkflow>(`/api/workflows/${id}/versions/${version}`, signal),
    enabled: id !== undefined && version !== undefined,
    staleTime: Infinity,
  });
  return version === undefined ? { seen: undefined, error: null } : { seen: data, error };
}
