import { useQuery } from '@tanstack/react-query';
import { get } from '../api/client';
import type { StoredFrame } from './frame';
import { Replay } from './replay';

/** Events a replay reads at most; each is held in full. */
export const REPLAY_MAX = 20_000;
const PAGE = 1_000;

/** Reads the events there are now, for a replay of them. */
export function useReplay(runId: string, total: number, isWanted: boolean) {
  const wanted = Math.min(total, REPLAY_MAX);
  return useQuery({
    queryKey: ['replay', runId, wanted],
    queryFn: async ({ signal }) => {
      const frames: StoredFrame[] = [];
      while (frames.length < wanted) {
        const size = Math.min(PAGE, wanted - frames.length);
        const { events } = await get<{ events: StoredFrame[] }>(
          `/api/runs/${encodeURIComponent(runId)}/events?from=${frames.length}&limit=${size}`,
          signal,
        );
        frames.push(...events);
        if (events.length < size) break;
      }
      return new Replay(runId, frames);
    },
    enabled: isWanted && wanted > 0,
    staleTime: Infinity,
    gcTime: 30_000,
  });
}
