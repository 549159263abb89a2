import { describe, expect, it } from 'vitest';
import { isNearLimit } from './limits';
import { emptyRun } from './seed';
import type { RunState } from './state';

const START = Date.parse('2026-01-01T00:00:00Z');
const empty = emptyRun('run-1');
const RUN: RunState = {
  ...empty,
  acceptedAt: new Date(START).toISOString(),
  totals: { ...empty.totals, inputTokens: 700, outputTokens: 100, modelCalls: 7, toolCalls: 2, costUsd: 0.5 },
};

describe('the budget of a run', () => {
  it.each([
    [{ maxTotalTokens: 1_000 }, true],
    [{ maxTotalTokens: 1_001 }, false],
    [{ maxCostUsd: 5 }, false],
    [{ maxCostUsd: 5, maxTotalLlmCalls: 8 }, true],
    [{ maxTotalToolCalls: 2 }, true],
    [{ maxWallClockMs: 10_000 }, true],
    [{ maxWallClockMs: 60_000 }, false],
    [{}, false],
  ])('is worth raising near one of its limits: %o', (limits, isNear) => {
    expect(isNearLimit(RUN, limits, START + 9_000)).toBe(isNear);
  });
});
