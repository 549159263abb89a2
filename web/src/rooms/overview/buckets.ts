// Usage over time: runs and turns of chats by the time they started, in equal steps up to now.

import type { ListedTurn, RunRow } from '../../api/types';
import { t } from '../../words/t';

export interface Range {
  value: string;
  label: string;
  stepMs: number;
  steps: number;
}

const HOUR = 3_600_000;

export const RANGES: Range[] = [
  { value: '1h', label: t('Last hour'), stepMs: HOUR / 12, steps: 12 },
  { value: '24h', label: t('Last day'), stepMs: HOUR, steps: 24 },
  { value: '7d', label: t('Last week'), stepMs: 6 * HOUR, steps: 28 },
];

export interface Bucket {
  from: number;
  runs: number;
  failed: number;
  tokens: Spent;
  /** In dollars. */
  cost: Spent;
}

export interface Spent {
  runs: number;
  chats: number;
}

export function buckets(
  { runs, turns }: { runs: readonly RunRow[]; turns: readonly ListedTurn[] },
  { stepMs, steps }: Range,
  now: number,
): Bucket[] {
  const end = (Math.floor(now / stepMs) + 1) * stepMs;
  const begin = end - steps * stepMs;
  const found: Bucket[] = Array.from({ length: steps }, (_, step) => ({
    from: begin + step * stepMs,
    runs: 0,
    failed: 0,
    tokens: { runs: 0, chats: 0 },
    cost: { runs: 0, chats: 0 },
  }));
  const at = (started: string): Bucket | undefined => found[Math.floor((Date.parse(started) - begin) / stepMs)];
  for (const run of runs) {
    const bucket = at(run.startedAt);
    if (!bucket) continue;
    bucket.runs += 1;
    if (run.status === 'FAILED') bucket.failed += 1;
    bucket.tokens.runs += Math.max(0, run.totalTokens);
    bucket.cost.runs += run.costEstimate ? run.costEstimate.inputCost + run.costEstimate.outputCost : 0;
  }
  for (const turn of turns) {
    const bucket = at(turn.startedAt);
    if (!bucket) continue;
    bucket.tokens.chats += Math.max(0, turn.totalTokens);
    bucket.cost.chats += turn.totalUsd ?? 0;
  }
  return found;
}
