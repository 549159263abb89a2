import { describe, expect, it } from 'vitest';
import type { RunDetail } from '../api/types';
import { fold } from './fold';
import { seededRun } from './seed';
import type { StoredFrame } from './frame';
import { rows } from '../rooms/run/timeline/spans';
import { at, place, RUN, SYSTEM, told, USER, whole } from './fixture';

describe('a run made of another', () => {
  const OWN = 3_600;
  const copied = RUN.slice(0, 20).map((frame) => Object.assign({}, frame, { inherited: true }));
  const own = told(
    { type: 'run_forked', retryOf: 'run-0' },
    { type: 'run_adopted', epoch: 1 },
    { type: 'task_started', ...place('2', 'two') },
    {
      type: 'llm_iteration_started',
      ...place('2', 'two'),
      iterationIndex: 0,
      model: 'swift',
      messages: [SYSTEM, USER],
      totalMessageCount: 2,
    },
    {
      type: 'llm_iteration_completed',
      ...place('2', 'two'),
      iterationIndex: 0,
      responseType: 'FINAL_ANSWER',
      responseText: '7',
      inputTokens: 4,
      outputTokens: 1,
      latencyMs: 9,
    },
    {
      type: 'metrics_snapshot',
      ...place('2', 'two'),
      inputTokens: 4,
      outputTokens: 1,
      llmLatencyMs: 9,
      toolExecutionTimeMs: 0,
      iterationCount: 1,
      costEstimate: '0.25000000',
    },
    { type: 'task_completed', ...place('2', 'two'), durationMs: 4_000, tokenCount: 5, toolCallCount: 0, output: '7' },
    { type: 'ensemble_completed', durationMs: 7_000, exitReason: 'COMPLETED', totalTokens: 5, totalToolCalls: 0 },
  ).map((frame, position) => ({ ...frame, seq: 20 + position, at: at(OWN + position) }) as StoredFrame);
  /** The server's fold after this many events. */
  const detail = (eventCount: number): RunDetail =>
    ({
      runId: 'run-1',
      ensemble: 'demo',
      workflow: 'PARALLEL',
      status: 'RUNNING',
      startedAt: at(OWN),
      paused: false,
      model: 'swift',
      eventCount,
      retryOf: 'run-0',
      tasks: [
        {
          name: 'one',
          description: 'Do one',
          agentRole: 'Writer',
          status: 'COMPLETED',
          output: '43',
          tokenCount: 35,
          toolCallCount: 1,
          startedAt: at(3),
          completedAt: at(19),
          model: 'swift',
          inherited: true,
        },
        { name: 'two', description: 'Do two', agentRole: 'Writer', status: 'PENDING' },
      ],
      metrics: { inputTokens: 0, outputTokens: 0, llmCalls: 0, totalToolCalls: 0, totalTokens: 0 },
    }) as unknown as RunDetail;
  const run = fold(seededRun(detail(21), copied[0], 0), [...copied, ...own]);

  it('has its own clock and counts', () => {
    expect(run).toMatchObject({
      acceptedAt: at(OWN),
      startedAt: at(OWN),
      endedAt: at(OWN + 7),
      status: 'COMPLETED',
      totals: { inputTokens: 4, outputTokens: 1, modelCalls: 1, toolCalls: 0, costUsd: 0.25 },
    });
    expect(run.cancel).toBe(undefined);
    expect(
      rows(run, new Set(), 0).map(({ name, from, to, isInherited, spans }) => [
        name,
        from,
        to,
        isInherited,
        spans.length,
      ]),
    ).toEqual([
      ['one', undefined, undefined, true, 0],
      ['two', Date.parse(at(OWN + 2)), Date.parse(at(OWN + 6)), undefined, 1],
    ]);
  });

  it('counts a task that was under way from the fork on', () => {
    const under = {
      ...detail(13),
      forkedFrom: { runId: 'run-0', seq: 12 },
      tasks: [{ ...detail(13).tasks[0], status: 'RUNNING', tokenCount: 0, inherited: undefined }, detail(13).tasks[1]],
    } as RunDetail;
    const measured = told({
      type: 'metrics_snapshot',
      ...place('1', 'one'),
      inputTokens: 8,
      outputTokens: 3,
      llmLatencyMs: 1,
      toolExecutionTimeMs: 0,
      iterationCount: 1,
      costEstimate: '0.12500000',
    }).map((frame) => ({ ...frame, seq: 13, at: at(OWN + 1) }) as StoredFrame);
    const forked = fold(seededRun(under, copied[0], 0), [
      ...copied.slice(0, 12),
      { ...own[0], seq: 12 } as StoredFrame,
      ...measured,
    ]);
    expect(forked).toMatchObject({
      totals: { inputTokens: 8, outputTokens: 3, costUsd: 0.125 },
      tasks: [{ tokens: 11 }, {}],
    });
  });

  it('has the outputs that were edited when it was made', () => {
    const editedOutputs = [{ taskIndex: 1, taskName: 'one', turnId: '1', output: 'better', by: 'me' }];
    const edited = fold(seededRun(detail(21), copied[0], 0), [
      ...copied,
      { ...own[0], editedOutputs } as StoredFrame,
      ...own.slice(1),
    ]);
    expect(edited.tasks).toMatchObject([{ output: 'better', outputEditedBy: 'me' }, { output: '7' }]);
    expect(edited.tasks[1]?.outputEditedBy).toBe(undefined);
    expect(edited.conversations.get('1')?.items.at(-1)).toMatchObject({
      kind: 'note',
      text: 'me edited the output when this run was made',
    });
  });

  it('tells what was said before, and marks whose it is', () => {
    expect(run.tasks).toMatchObject([
      { name: 'one', context: [], status: 'COMPLETED', output: '43', isInherited: true },
      { name: 'two', context: [1], status: 'COMPLETED', output: '7' },
    ]);
    expect(run.conversations.get('1')?.items).toMatchObject(whole.conversations.get('1')?.items ?? []);
  });
});
