import { useCallback, useMemo } from 'react';
import { useSearchParams } from 'react-router';
import type { Replay } from '../../run/replay';
import type { RunState } from '../../run/state';
import { useReplay } from '../../run/useReplay';

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
  const [params, setParams] = useSearchParams();
  const named = params.get(AT);
  const at = named === null ? undefined : Math.max(0, Math.floor(Number(named)) || 0);
  const replay = useReplay(runId, total, at !== undefined).data;
  const run = useMemo(() => (at === undefined ? undefined : replay?.at(at)), [replay, at]);
  const go = useCallback(
    (seq: number) =>
      setParams(
        (old) => {
          old.set(AT, String(seq));
          return old;
        },
        { replace: true },
      ),
    [setParams],
  );
  const close = useCallback(
    () =>
      setParams(
        (old) => {
          old.delete(AT);
          return old;
        },
        { replace: true },
      ),
    [setParams],
  );
  return { at, replay: at === undefined ? undefined : replay, run, go, close };
}
