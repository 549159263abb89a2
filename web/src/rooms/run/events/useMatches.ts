import { useEffect, useState } from 'react';
import { get } from '../../../api/client';
import type { StoredFrame } from '../../../run/frame';
import { type EventFilter, isFiltering, matches } from './match';

/** Events read at once. */
const PAGE = 1_000;
/** Events looked through before more are asked for: each is read in full. */
const STEP = 20_000;
/** Events found at most; more are no answer. */
const FOUND_MAX = 2_000;

export interface Matches {
  found: StoredFrame[];
  /** Events looked through so far. */
  looked: number;
  isLooking: boolean;
  error?: Error;
  /** Looks through as many again. */
  further: () => void;
}

const NOTHING = { found: [], looked: 0, isLooking: false };

/** The events a filter lets through, found page by page; nothing while there is no filter. */
export function useMatches(runId: string, filter: EventFilter, total: number): Matches {
  const wanted = JSON.stringify(filter);
  const [state, setState] = useState<Omit<Matches, 'further'> & { wanted: string }>({ ...NOTHING, wanted });
  const [limit, setLimit] = useState({ wanted, events: STEP });
  const until = Math.min(total, limit.wanted === wanted ? limit.events : STEP);
  const isSame = state.wanted === wanted;
  const { found, looked } = isSame ? state : NOTHING;
  useEffect(() => {
    if (!isFiltering(filter) || looked >= until || found.length >= FOUND_MAX) return undefined;
    const stop = new AbortController();
    const read = async (): Promise<void> => {
      const size = Math.min(PAGE, until - looked);
      const { events } = await get<{ events: StoredFrame[] }>(
        `/api/runs/${runId}/events?from=${looked}&limit=${size}`,
        stop.signal,
      );
      const more = events.filter((frame) => matches(frame, filter));
      // A page that is shorter than asked for is the end of what is stored.
      const next = events.length < size ? total : looked + size;
      setState({ wanted, found: [...found, ...more].slice(0, FOUND_MAX), looked: next, isLooking: next < until });
    };
    read().catch((error: Error) => {
      if (!stop.signal.aborted) setState({ wanted, found: [...found], looked, isLooking: false, error });
    });
    return () => stop.abort();
    // One page after the other: each is asked for when the one before is shown.
  }, [runId, wanted, looked, until]); // oxlint-disable-line react/exhaustive-deps
  return {
    found: [...found],
    looked,
    isLooking: isFiltering(filter) && looked < until && found.length < FOUND_MAX && !state.error,
    ...(isSame && state.error ? { error: state.error } : {}),
    further: () => setLimit({ wanted, events: until + STEP }),
  };
}
