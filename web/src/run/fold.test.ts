import { describe, expect, it } from 'vitest';
import type { RunDetail } from '../api/types';
import { fold, interrupted } from './fold';
import { emptyRun, seededRun } from './seed';
import type { Frame, StoredFrame } from './frame';
import type { RunState } from './state';
import { rows } from '../rooms/run/timeline/spans';
import { at, RUN, SYSTEM, USER, whole, words } from './fixture';

describe('the fold', () => {
  it('gives the same state whatever the batches, and counts an event that comes twice once', () => {
    const single = RUN.reduce((state, frame) => fold(state, [frame]), emptyRun('run-1'));
    expect(single).toEqual(whole);
    const resumed = fold(fold(emptyRun('run-1'), RUN.slice(0, 12)), RUN.slice(4));
    expect(resumed).toEqual(whole);
    expect(fold(whole, RUN)).toEqual(whole);
  });

  it('leaves earlier states as they were', () => {
    const states = RUN.map((_, end) => fold(emptyRun('run-1'), RUN.slice(0, end)));
    const copies = structuredClone(states);
    states.reduce((_, state, end) => fold(state, RUN.slice(end)), states[0]);
    expect(states).toEqual(copies);
  });

  it('tells how every task stands, what it used and what came of it', () => {
    expect(whole.status).toBe('CANCELLED');
    expect(whole.tasks).toMatchObject([
      { name: 'one', status: 'COMPLETED', output: '43', tokens: 35, toolCalls: 1 },
      { name: 'two', status: 'CANCELLED', context: [1] },
    ]);
    expect(whole.totals).toMatchObject({
      inputTokens: 30,
      outputTokens: 5,
      modelCalls: 2,
      toolCalls: 1,
      costUsd: 1.25,
      unpriced: false,
    });
    expect(whole.reviews.size).toBe(0);
    expect(whole.directives.get('d0')?.deliveredTo).toEqual([{ taskIndex: 1, iterationIndex: 1 }]);
  });

  it('shows in each round only what was new, with its calls, failures and answer', () => {
    const [first, second, review] = whole.conversations.get('1')?.items ?? [];
    expect(first).toMatchObject({
      kind: 'round',
      sent: [SYSTEM, USER],
      calls: [{ tool: 'calculator', result: '42', outcome: 'SUCCESS' }],
    });
    expect(second).toMatchObject({
      kind: 'round',
      sent: [{ role: 'user', content: 'Be brief' }],
      text: '42',
      failures: [{ message: 'HTTP 503', retriedAt: at(14) }],
    });
    expect(review).toMatchObject({ kind: 'review', outcome: { text: 'ana changed the output', detail: '43' } });
  });

  it('streams words into the round under way and replaces them by the answer', () => {
    const talking = fold(fold(emptyRun('run-1'), RUN.slice(0, 6)), [words('Forty', 0), words('-two', 5)]);
    expect(talking.conversations.get('1')).toMatchObject({
      phase: { kind: 'answering' },
      items: [{ streaming: 'Forty-two' }],
    });
    const answered = fold(talking, RUN.slice(6, 7));
    expect(answered.conversations.get('1')?.items[0]).toMatchObject({ streaming: '' });
    expect(fold(answered, [words('late', 9)]).conversations.get('1')?.items[0]).toMatchObject({ streaming: '' });
  });

  it('takes an answer from its beginning when it joins late, or again', () => {
    const joined = interrupted(fold(emptyRun('run-1'), RUN.slice(0, 6)));
    const item = (run: RunState) => run.conversations.get('1')?.items[0];
    expect(item(joined)).toMatchObject({ streaming: '', isPartial: true });
    const heard = fold(joined, [words('Forty', 0), words('-two', 5)]);
    expect(item(heard)).toMatchObject({ streaming: 'Forty-two' });
    expect(item(heard)).not.toHaveProperty('isPartial');
    expect(item(fold(interrupted(heard), [words('Forty-two and', 0)]))).toMatchObject({ streaming: 'Forty-two and' });
    expect(item(fold(joined, [words('two', 6)]))).toMatchObject({ streaming: 'two', isPartial: true });
  });

  it('tells how far a call is that somebody else does, until it is over', () => {
    const far: Frame = {
      type: 'tool_progress',
      runId: 'run-1',
      taskIndex: 1,
      agentRole: 'Writer',
      taskDescription: 'Do one',
      turnId: '1',
      callId: '1.0.0',
      toolName: 'calculator',
      sentAt: at(9),
      message: 'Adds',
      percentComplete: 40,
    };
    const calling = fold(fold(emptyRun('run-1'), RUN.slice(0, 9)), [far]);
    expect(calling.conversations.get('1')?.items[0]).toMatchObject({ calls: [{ progress: 'Adds, 40 %' }] });
    expect(fold(whole, [far])).toEqual(whole);
  });

  it('keeps a bounded amount of an endless answer', () => {
    const many = Array.from({ length: 100_000 }, (_, at) => words('ten chars ', at * 10));
    const item = fold(fold(emptyRun('run-1'), RUN.slice(0, 6)), many).conversations.get('1')?.items[0];
    expect(item?.kind === 'round' && item.streaming.length).toBeLessThan(200_000);
  });

  const detail = {
    runId: 'run-1',
    ensemble: 'demo',
    workflow: 'PARALLEL',
    status: 'CANCELLED',
    startedAt: at(0),
    paused: false,
    model: 'swift',
    eventCount: RUN.length,
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
      },
      {
        name: 'two',
        description: 'Do two',
        agentRole: 'Writer',
        status: 'CANCELLED',
        startedAt: at(20),
        completedAt: at(22),
      },
    ],
    metrics: {
      inputTokens: 30,
      outputTokens: 5,
      llmCalls: 2,
      totalToolCalls: 1,
      totalTokens: 35,
      costEstimate: { inputCost: 1, outputCost: 0.25 },
    },
  } as unknown as RunDetail;
  /** The run, read from this event on. */
  const from = (first: number): RunState => fold(seededRun(detail, RUN[0], first), RUN.slice(first));

  it("starts from the server's fold near the end and tells the same of tasks and totals", () => {
    const late = from(16);
    expect(late.tasks).toEqual(whole.tasks);
    expect(late.totals).toEqual(whole.totals);
    expect(late).toMatchObject({ first: 16, next: whole.next, status: whole.status, exitReason: whole.exitReason });
  });

  it('tells the same of how long every task took and how many calls it made, wherever the events read begin', () => {
    const times = (run: RunState): unknown[] =>
      rows(run, new Set(), 0).map((row) => [row.name, row.from, row.to, row.isCut]);
    const cuts = RUN.slice(1).map(({ seq }) => seq);
    expect(cuts.map((first) => times(from(first)))).toEqual(cuts.map(() => times(whole)));
    // Before its end a task is counted by the server's fold alone.
    const working = fold(
      seededRun(
        { ...detail, eventCount: 15, tasks: [{ ...detail.tasks[0], toolCallCount: 1 }, detail.tasks[1]] } as RunDetail,
        RUN[0],
        5,
      ),
      RUN.slice(5, 15),
    );
    expect(working.tasks[0]).toMatchObject({ toolCalls: 1 });
  });

  it('marks what it cannot tell of a conversation that began before the events read', () => {
    const [row] = rows(from(12), new Set(), 0);
    expect(row).toMatchObject({ from: Date.parse(at(3)), readFrom: Date.parse(at(12)) });
    const late = fold(seededRun(detail, RUN[0], 10), [
      RUN[12] as StoredFrame,
      { ...RUN[10], seq: 13, at: at(13), callId: '1.1.0', durationMs: 2_000 } as StoredFrame,
    ]);
    expect(late.conversations.get('1')?.items[0]).toMatchObject({ calls: [{ startedAt: at(11), endedAt: at(13) }] });
  });
});
