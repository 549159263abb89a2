import { useCallback, useMemo } from 'react';
import type { Replay } from '../../run/replay';
import type { RunState } from '../../run/state';
import { useReplay } from '../../run/useReplay';
import { useParamsInAddress } from '../../ui/useParamsInAddress';

/** In the address: the event the run is shown at. */
export const AT = 'at';

export interface Replaying {
  /** The event it is at; none while the run is shown as it is. */
  at: number | undefined;
  replay: Replay | undefined;
  /** The run as it was right after that event. */
  run: RunState | undefined;
  go: (seq: number) => void;
  close: () => void;
}

/** The run as it was, while the address names an event to show it at. */
export function useReplaying(runId: string, total: number): Replaying {
  const [params, change] = useParamsInAddress();
  const named = params.get(AT);
  const at = named === null ? undefined : Math.max(0, Math.floor(Number(named)) || 0);
  const replay = useReplay(runId, total, at !== undefined).data;
  const run = useMemo(() => (at === undefined ? undefined : replay?.at(at)), [replay, at]);
  const go = useCallback((seq: number) => change({ [AT]: String(seq) }), [change]);
  const close = useCallback(() => change({ [AT]: undefined }), [change]);
  return { at, replay: at === undefined ? undefined : replay, run, go, close };
}
