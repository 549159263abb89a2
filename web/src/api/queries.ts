// The queries of the pages, and how often they are repeated.

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { get } from './client';
import { feedIsLive } from './feed';
import type { Answer, Capabilities, Network, RunDetail, RunRow } from './types';

const ACTIVE_MS = 2_000;
const QUIET_MS = 10_000;

/** The time until a list is asked for again: long while the feed is live. */
const pace = (activeMs: number): number => (feedIsLive() ? QUIET_MS : activeMs);

export function useRuns(query: string, isWanted = true) {
  return useQuery({
    enabled: isWanted,
    queryKey: ['runs', query],
    queryFn: ({ signal }) => get<Answer<'GET /api/runs'>>(`/api/runs?${query}`, signal),
    refetchInterval: ({ state }) =>
      state.data?.runs.some(({ durationMs }) => durationMs === null) ? pace(ACTIVE_MS) : QUIET_MS,
    placeholderData: keepPreviousData,
  });
}

/** All runs of a query, page by page, as far as this many requests reach. */
export function useAllRuns(query: string, requests: number, isWanted: boolean) {
  return useQuery({
    enabled: isWanted,
    queryKey: ['runs', 'all', query, requests],
    queryFn: ({ signal }) => allRuns(query, requests, signal),
    // A long list takes the server longer than a page of it.
    refetchInterval: ({ state }) => (state.data?.asked ?? 1) * QUIET_MS,
    placeholderData: keepPreviousData,
  });
}

interface AllRuns {
  runs: RunRow[];
  /** The requests it took. */
  asked: number;
  /** Whether there may be more. */
  isCut: boolean;
}

async function allRuns(query: string, requests: number, signal: AbortSignal): Promise<AllRuns> {
  const runs: RunRow[] = [];
  let after = '';
  for (let asked = 1; ; asked += 1) {
    const page = await get<Answer<'GET /api/runs'>>(`/api/runs?${query}${after}`, signal);
    runs.push(...page.runs);
    if (page.next === undefined || asked >= requests) return { runs, asked, isCut: page.next !== undefined };
    after = `&after=${encodeURIComponent(page.next)}`;
  }
}

/** The server's own fold of a run, while it is active. */
export function useRunDetail(runId: string, isActive: boolean) {
  return useQuery({
    queryKey: ['run', runId],
    queryFn: ({ signal }) => get<RunDetail>(`/api/runs/${encodeURIComponent(runId)}`, signal),
    refetchInterval: isActive ? ACTIVE_MS : false,
    enabled: isActive,
  });
}

/** The newest turns of chats, with their usage. */
export function useTurns(limit: number) {
  return useQuery({
    queryKey: ['turns', limit],
    queryFn: ({ signal }) => get<Answer<'GET /api/turns'>>(`/api/turns?limit=${limit}`, signal),
    refetchInterval: QUIET_MS,
  });
}

export function useReviews() {
  return useQuery({
    queryKey: ['reviews'],
    queryFn: ({ signal }) => get<Answer<'GET /api/reviews'>>('/api/reviews', signal),
    refetchInterval: () => pace(ACTIVE_MS),
  });
}

/** Calls of chats that wait for a person. */
export function useApprovals() {
  return useQuery({
    queryKey: ['approvals'],
    queryFn: ({ signal }) => get<Answer<'GET /api/approvals'>>('/api/approvals', signal),
    refetchInterval: () => pace(ACTIVE_MS * 2),
  });
}

export function useCapabilities() {
  return useQuery({
    queryKey: ['capabilities'],
    queryFn: ({ signal }) => get<Capabilities>('/api/capabilities', signal),
    // Tools come and go with their servers.
    refetchInterval: QUIET_MS,
  });
}

/** Links and load change without a frame of `/ws`, so they are polled, often on the map and never on a hidden page. */
export function useNetwork(interest: 'active' | 'quiet' = 'active') {
  return useQuery({
    queryKey: ['network'],
    queryFn: ({ signal }) => get<Network>('/api/network', signal),
    refetchInterval: interest === 'active' ? ACTIVE_MS : QUIET_MS,
  });
}

export function useServerStatus() {
  return useQuery({
    queryKey: ['status'],
    queryFn: ({ signal }) => get<Answer<'GET /api/status'>>('/api/status', signal),
    refetchInterval: QUIET_MS / 2,
  });
}
