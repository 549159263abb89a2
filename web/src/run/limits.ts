// The budget of a run, and how much of it is left.

import type { RunDetail } from '../api/types';
import type { RunState } from './state';

/** The share of a limit from which raising it is worth a person's while. */
export const NEAR = 0.8;

/** Whether a run has used most of what one of its limits allows. */
export function isNearLimit(run: RunState, limits: RunDetail['limits'], now: number): boolean {
  const { totals, acceptedAt } = run;
  const used: [number, number | undefined][] = [
    [totals.inputTokens + totals.outputTokens, limits.maxTotalTokens],
    [totals.costUsd, limits.maxCostUsd],
    [totals.modelCalls, limits.maxTotalLlmCalls],
    [totals.toolCalls, limits.maxTotalToolCalls],
    [now - Date.parse(acceptedAt), limits.maxWallClockMs],
  ];
  return used.some(([amount, limit]) => limit !== undefined && amount >= NEAR * limit);
}
