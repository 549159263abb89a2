// What was spent when: runs by the time they started, in equal steps up to now.

import type { RunRow } from '../../api/types';

export interface Range {
  value: string;
  label: string;
  stepMs: number;
  steps: number;
}

const HOUR = 3_600_000;

export const RANGES: Range[] = [
  { value: '1h', label: 'Last hour', stepMs: HOUR / 12, steps: 12 },
  { value: '24h', label: 'Last day', stepMs: HOUR, steps: 24 },
  { value: '7d', label: 'Last week', stepMs: 6 * HOUR, steps: 28 },
];

export interface Bucket {
  from: number;
  runs: number;
  failed: number;
  tokens: number;
  cost: number;
}

export function buckets(runs: readonly RunRow[], { stepMs, steps }: Range, now: number): Bucket[] {
  const end = (Math.floor(now / stepMs) + 1) * stepMs;
  const begin = end - steps * stepMs;
  const found: Bucket[] = Array.from({ length: steps }, (_, step) => ({ from: begin + step * stepMs, runs: 0, failed: 0, tokens: 0, cost: 0 }));
  for (const run of runs) {
    const bucket = found[Math.floor((Date.parse(run.startedAt) - begin) / stepMs)];
    if (!bucket) continue;
    bucket.runs += 1;
    if (run.status === 'FAILED') bucket.failed += 1;
    bucket.tokens += Math.max(0, run.totalTokens);
    bucket.cost += run.costEstimate ? run.costEstimate.inputCost + run.costEstimate.outputCost : 0;
  }
  return found;
}
