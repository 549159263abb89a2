import { describe, expect, it } from 'vitest';
import type { ListedTurn, RunRow } from '../../api/types';
import { buckets } from './buckets';

describe('what was spent', () => {
  it('is counted for runs and for chats, each where it began', () => {
    const now = Date.parse('2026-05-01T12:30:00Z');
    const run = (startedAt: string, more: object): RunRow =>
      ({
        startedAt,
        totalTokens: 100,
        status: 'COMPLETED',
        costEstimate: { inputCost: 0.5, outputCost: 0.25 },
        ...more,
      }) as RunRow;
    const turn = (startedAt: string, totalTokens: number, totalUsd: number | null): ListedTurn => ({
      turnId: 't',
      threadId: 'c',
      status: 'COMPLETED',
      startedAt,
      durationMs: 1,
      totalTokens,
      totalUsd,
    });
    const runs = [
      run('2026-05-01T12:10:00Z', {}),
      run('2026-05-01T11:10:00Z', { status: 'FAILED', totalTokens: -1, costEstimate: undefined }),
      run('2026-04-01T00:00:00Z', {}),
    ];
    const turns = [
      turn('2026-05-01T12:20:00Z', 30, 0.1),
      turn('2026-05-01T12:25:00Z', -1, null),
      turn('2026-05-01T11:59:59Z', 7, 0.2),
    ];
    const found = buckets({ runs, turns }, { value: '2h', label: '', stepMs: 3_600_000, steps: 2 }, now);
    expect(found.map(({ from: _from, ...rest }) => rest)).toEqual([
      { runs: 1, failed: 1, tokens: { runs: 0, chats: 7 }, cost: { runs: 0, chats: 0.2 } },
      { runs: 1, failed: 0, tokens: { runs: 100, chats: 30 }, cost: { runs: 0.75, chats: 0.1 } },
    ]);
  });
});
