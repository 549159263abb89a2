import { describe, expect, it } from 'vitest';
import type { RunDetail } from '../api/types';
import { emptyRun, fold, seededRun } from './fold';
import type { Frame, StoredFrame } from './frame';
import { now } from './now';
import type { RunState } from './state';
import { breachText } from './words';
import { rows } from '../rooms/run/timeline/spans';

const at = (seq: number): string => new Date(Date.UTC(2026, 0, 1) + seq * 1_000).toISOString();

/** Frames numbered from 0, one second apart. */
function told(...frames: object[]): StoredFrame[] {
  return frames.map((frame, seq) => ({ runId: 'run-1', seq, at: at(seq), ...frame }) as StoredFrame);
}

const place = (turnId: string, taskName: string): object => ({
  taskIndex: Number(turnId.split('.')[0]), turnId, taskName, agentRole: 'Writer', taskDescription: `Do ${taskName}`,
});

const SYSTEM = { role: 'system', content: 'You are Writer.' };
const USER = { role: 'user', content: 'Do it' };

/** A task that calls a tool, is told something, fails once, answers and is reviewed; another that is cancelled. */
const RUN = told(
  { type: 'run_accepted', ensemble: 'demo', workflow: 'PARALLEL', totalTasks: 2, tasks: [
    { taskIndex: 1, name: 'one', agentRole: 'Writer', context: [] }, { taskIndex: 2, name: 'two', agentRole: 'Writer', context: [1] },
  ] },
  { type: 'run_adopted', epoch: 1 },
  { type: 'ensemble_started', totalTasks: 2, workflow: 'PARALLEL' },
  { type: 'task_started', ...place('1', 'one') },
  { type: 'task_input', ...place('1', 'one'), toolNames: ['calculator'], assembledContext: 'Do it' },
  { type: 'llm_iteration_started', ...place('1', 'one'), iterationIndex: 0, model: 'swift', messages: [SYSTEM, USER], totalMessageCount: 2 },
  { type: 'llm_iteration_completed', ...place('1', 'one'), iterationIndex: 0, responseType: 'TOOL_CALLS', toolRequests: [{ name: 'calculator', arguments: '{}' }], inputTokens: 10, outputTokens: 2, latencyMs: 5 },
  { type: 'metrics_snapshot', ...place('1', 'one'), inputTokens: 10, outputTokens: 2, llmLatencyMs: 5, toolExecutionTimeMs: 0, iterationCount: 1, costEstimate: '0.50000000' },
  { type: 'tool_dispatched', ...place('1', 'one'), callId: '1.0.0', toolName: 'calculator', toolArguments: '{"input":"6*7"}' },
  { type: 'directive_active', directiveId: 'd0', from: 'local', content: 'Be brief', target: 'one', priority: 'HIGH' },
  { type: 'tool_called', ...place('1', 'one'), callId: '1.0.0', toolName: 'calculator', durationMs: 3, outcome: 'SUCCESS', toolArguments: '{"input":"6*7"}', toolResult: '42' },
  { type: 'directive_delivered', directiveId: 'd0', taskIndex: 1, iterationIndex: 1 },
  { type: 'llm_iteration_started', ...place('1', 'one'), iterationIndex: 1, model: 'swift', totalMessageCount: 5, messages: [
    SYSTEM, USER, { role: 'assistant', content: null }, { role: 'tool', content: '42' }, { role: 'user', content: 'Be brief' },
  ] },
  { type: 'model_failed', ...place('1', 'one'), iterationIndex: 1, error: 'unavailable', message: 'HTTP 503', then: { action: 'retry', at: at(20) } },
  { type: 'model_retried', ...place('1', 'one'), iterationIndex: 1, attempt: 1 },
  { type: 'llm_iteration_completed', ...place('1', 'one'), iterationIndex: 1, responseType: 'FINAL_ANSWER', responseText: '42', inputTokens: 20, outputTokens: 3, latencyMs: 9 },
  { type: 'metrics_snapshot', ...place('1', 'one'), inputTokens: 30, outputTokens: 5, llmLatencyMs: 14, toolExecutionTimeMs: 3, iterationCount: 2, costEstimate: '1.25000000' },
  { type: 'review_requested', ...place('1', 'one'), reviewId: 'run-1-review-0', taskOutput: '42', timing: 'AFTER_EXECUTION', timeoutMs: 60_000, onTimeout: 'CONTINUE', createdAt: at(17), expiresAt: at(77) },
  { type: 'review_decided', reviewId: 'run-1-review-0', decision: 'EDIT', by: 'ana', revisedOutput: '43' },
  { type: 'task_completed', ...place('1', 'one'), durationMs: 16_000, tokenCount: 35, toolCallCount: 1, output: '43' },
  { type: 'task_started', ...place('2', 'two') },
  { type: 'cancel_requested', mode: 'now', by: 'ana' },
  { type: 'task_failed', ...place('2', 'two'), reason: 'Cancelled', cancelled: true },
  { type: 'ensemble_completed', durationMs: 23_000, exitReason: 'CANCELLED', totalTokens: 35, totalToolCalls: 1 },
);

const whole = fold(emptyRun('run-1'), RUN);

const words = (token: string): Frame => ({ type: 'token', runId: 'run-1', taskIndex: 1, agentRole: 'Writer', taskDescription: 'Do one', turnId: '1', token, sentAt: at(6) });

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
    expect(whole.totals).toMatchObject({ inputTokens: 30, outputTokens: 5, modelCalls: 2, toolCalls: 1, costUsd: 1.25, unpriced: false });
    expect(whole.reviews.size).toBe(0);
    expect(whole.directives.get('d0')?.deliveredTo).toEqual([{ taskIndex: 1, iterationIndex: 1 }]);
  });

  it('shows in each round only what was new, with its calls, failures and answer', () => {
    const [first, second, gate] = whole.turns.get('1')?.items ?? [];
    expect(first).toMatchObject({ kind: 'round', sent: [SYSTEM, USER], calls: [{ tool: 'calculator', result: '42', outcome: 'SUCCESS' }] });
    expect(second).toMatchObject({ kind: 'round', sent: [{ role: 'user', content: 'Be brief' }], text: '42', failures: [{ message: 'HTTP 503', retriedAt: at(14) }] });
    expect(gate).toMatchObject({ kind: 'gate', outcome: { text: 'ana changed the output', detail: '43' } });
  });

  it('streams words into the round under way and replaces them by the answer', () => {
    const talking = fold(fold(emptyRun('run-1'), RUN.slice(0, 6)), [words('Forty'), words('-two')]);
    expect(talking.turns.get('1')).toMatchObject({ phase: { is: 'answering' }, items: [{ streaming: 'Forty-two' }] });
    const answered = fold(talking, RUN.slice(6, 7));
    expect(answered.turns.get('1')?.items[0]).toMatchObject({ streaming: '' });
    expect(fold(answered, [words('late')]).turns.get('1')?.items[0]).toMatchObject({ streaming: '' });
  });

  it('tells how far a call is that somebody else does, until it is over', () => {
    const far: Frame = { type: 'tool_progress', runId: 'run-1', taskIndex: 1, agentRole: 'Writer', taskDescription: 'Do one', turnId: '1', callId: '1.0.0', toolName: 'calculator', sentAt: at(9), message: 'Adds', percentComplete: 40 };
    const calling = fold(fold(emptyRun('run-1'), RUN.slice(0, 9)), [far]);
    expect(calling.turns.get('1')?.items[0]).toMatchObject({ calls: [{ progress: 'Adds, 40 %' }] });
    expect(fold(whole, [far])).toEqual(whole);
  });

  it('keeps a bounded amount of an endless answer', () => {
    const many = Array.from({ length: 100_000 }, () => words('ten chars '));
    const item = fold(fold(emptyRun('run-1'), RUN.slice(0, 6)), many).turns.get('1')?.items[0];
    expect(item?.kind === 'round' && item.streaming.length).toBeLessThan(200_000);
  });

  const detail = {
    runId: 'run-1', ensemble: 'demo', workflow: 'PARALLEL', status: 'CANCELLED', startedAt: at(0), paused: false, model: 'swift', eventCount: RUN.length,
    tasks: [
      { name: 'one', description: 'Do one', agentRole: 'Writer', status: 'COMPLETED', output: '43', tokenCount: 35, toolCallCount: 1, startedAt: at(3), completedAt: at(19), model: 'swift' },
      { name: 'two', description: 'Do two', agentRole: 'Writer', status: 'CANCELLED', startedAt: at(20), completedAt: at(22) },
    ],
    metrics: { inputTokens: 30, outputTokens: 5, llmCalls: 2, totalToolCalls: 1, totalTokens: 35, costEstimate: { inputCost: 1, outputCost: 0.25 } },
  } as unknown as RunDetail;
  /** The run, read from this event on. */
  const from = (first: number): RunState => fold(seededRun(detail, RUN[0], first), RUN.slice(first));

  it('starts from the server\'s fold near the end and tells the same of tasks and totals', () => {
    const late = from(16);
    expect(late.tasks).toEqual(whole.tasks);
    expect(late.totals).toEqual(whole.totals);
    expect(late).toMatchObject({ first: 16, next: whole.next, status: whole.status, exitReason: whole.exitReason });
  });

  it('tells the same of how long every task took and how many calls it made, wherever the events read begin', () => {
    const times = (run: RunState): unknown[] => rows(run, new Set(), 0).map((row) => [row.name, row.from, row.to, row.isCut]);
    const cuts = RUN.slice(1).map(({ seq }) => seq);
    expect(cuts.map((first) => times(from(first)))).toEqual(cuts.map(() => times(whole)));
    // Before its end a task is counted by the server's fold alone.
    const working = fold(seededRun({ ...detail, eventCount: 15, tasks: [{ ...detail.tasks[0], toolCallCount: 1 }, detail.tasks[1]] } as RunDetail, RUN[0], 5), RUN.slice(5, 15));
    expect(working.tasks[0]).toMatchObject({ toolCalls: 1 });
  });

  it('marks what it cannot tell of a conversation that began before the events read', () => {
    const [row] = rows(from(12), new Set(), 0);
    expect(row).toMatchObject({ from: Date.parse(at(3)), readFrom: Date.parse(at(12)) });
    const late = fold(seededRun(detail, RUN[0], 10), [RUN[12] as StoredFrame, { ...RUN[10], seq: 13, at: at(13), callId: '1.1.0', durationMs: 2_000 } as StoredFrame]);
    expect(late.turns.get('1')?.items[0]).toMatchObject({ calls: [{ startedAt: at(11), endedAt: at(13) }] });
  });
});

describe('a run made of another', () => {
  const OWN = 3_600;
  const copied = RUN.slice(0, 20).map((frame) => Object.assign({}, frame, { inherited: true }));
  const own = told(
    { type: 'run_forked', retryOf: 'run-0' },
    { type: 'run_adopted', epoch: 1 },
    { type: 'task_started', ...place('2', 'two') },
    { type: 'llm_iteration_started', ...place('2', 'two'), iterationIndex: 0, model: 'swift', messages: [SYSTEM, USER], totalMessageCount: 2 },
    { type: 'llm_iteration_completed', ...place('2', 'two'), iterationIndex: 0, responseType: 'FINAL_ANSWER', responseText: '7', inputTokens: 4, outputTokens: 1, latencyMs: 9 },
    { type: 'metrics_snapshot', ...place('2', 'two'), inputTokens: 4, outputTokens: 1, llmLatencyMs: 9, toolExecutionTimeMs: 0, iterationCount: 1, costEstimate: '0.25000000' },
    { type: 'task_completed', ...place('2', 'two'), durationMs: 4_000, tokenCount: 5, toolCallCount: 0, output: '7' },
    { type: 'ensemble_completed', durationMs: 7_000, exitReason: 'COMPLETED', totalTokens: 5, totalToolCalls: 0 },
  ).map((frame, position) => ({ ...frame, seq: 20 + position, at: at(OWN + position) }) as StoredFrame);
  /** The server's fold after this many events. */
  const detail = (eventCount: number): RunDetail => ({
    runId: 'run-1', ensemble: 'demo', workflow: 'PARALLEL', status: 'RUNNING', startedAt: at(OWN), paused: false, model: 'swift', eventCount, retryOf: 'run-0',
    tasks: [
      { name: 'one', description: 'Do one', agentRole: 'Writer', status: 'COMPLETED', output: '43', tokenCount: 35, toolCallCount: 1, startedAt: at(3), completedAt: at(19), model: 'swift', inherited: true },
      { name: 'two', description: 'Do two', agentRole: 'Writer', status: 'PENDING' },
    ],
    metrics: { inputTokens: 0, outputTokens: 0, llmCalls: 0, totalToolCalls: 0, totalTokens: 0 },
  } as unknown as RunDetail);
  const run = fold(seededRun(detail(21), copied[0], 0), [...copied, ...own]);

  it('has its own clock and counts', () => {
    expect(run).toMatchObject({ acceptedAt: at(OWN), startedAt: at(OWN), endedAt: at(OWN + 7), status: 'COMPLETED', totals: { inputTokens: 4, outputTokens: 1, modelCalls: 1, toolCalls: 0, costUsd: 0.25 } });
    expect(run.cancel).toBe(undefined);
    expect(rows(run, new Set(), 0).map(({ name, from, to, isInherited, spans }) => [name, from, to, isInherited, spans.length])).toEqual([
      ['one', undefined, undefined, true, 0], ['two', Date.parse(at(OWN + 2)), Date.parse(at(OWN + 6)), undefined, 1],
    ]);
  });

  it('counts a task that was under way from the fork on', () => {
    const under = { ...detail(13), forkedFrom: { runId: 'run-0', seq: 12 }, tasks: [{ ...detail(13).tasks[0], status: 'RUNNING', tokenCount: 0, inherited: undefined }, detail(13).tasks[1]] } as RunDetail;
    const measured = told({ type: 'metrics_snapshot', ...place('1', 'one'), inputTokens: 8, outputTokens: 3, llmLatencyMs: 1, toolExecutionTimeMs: 0, iterationCount: 1, costEstimate: '0.12500000' })
      .map((frame) => ({ ...frame, seq: 13, at: at(OWN + 1) }) as StoredFrame);
    const forked = fold(seededRun(under, copied[0], 0), [...copied.slice(0, 12), { ...own[0], seq: 12 } as StoredFrame, ...measured]);
    expect(forked).toMatchObject({ totals: { inputTokens: 8, outputTokens: 3, costUsd: 0.125 }, tasks: [{ tokens: 11 }, {}] });
  });

  it('tells what was said before, and marks whose it is', () => {
    expect(run.tasks).toMatchObject([{ name: 'one', context: [], status: 'COMPLETED', output: '43', isInherited: true }, { name: 'two', context: [1], status: 'COMPLETED', output: '7' }]);
    expect(run.turns.get('1')?.items).toMatchObject(whole.turns.get('1')?.items ?? []);
  });
});

describe('a hierarchical run', () => {
  const run = fold(emptyRun('run-1'), told(
    { type: 'run_accepted', ensemble: 'demo', workflow: 'HIERARCHICAL', totalTasks: 1, tasks: [{ taskIndex: 1, name: 'write', agentRole: 'Writer', context: [] }] },
    { type: 'ensemble_started', totalTasks: 1, workflow: 'HIERARCHICAL' },
    { type: 'task_started', taskIndex: 1, turnId: '2', taskName: 'Manager', agentRole: 'Manager', taskDescription: 'Manage' },
    { type: 'llm_iteration_started', taskIndex: 1, turnId: '2', agentRole: 'Manager', taskDescription: 'Manage', iterationIndex: 0, model: 'm', messages: [], totalMessageCount: 0 },
    { type: 'delegation_started', delegationId: '2.0.0', delegatingAgentRole: 'Manager', workerRole: 'Writer', taskDescription: 'Write it' },
    { type: 'llm_iteration_started', taskIndex: 1, turnId: '2.0.0', agentRole: 'Writer', taskDescription: 'Write it', iterationIndex: 0, model: 'm', messages: [], totalMessageCount: 0 },
  ));

  it('has its manager beside the declared tasks and a conversation for each errand', () => {
    expect(run.tasks).toMatchObject([{ name: 'write', status: 'RUNNING' }, { name: 'Manager', isManager: true, status: 'RUNNING' }]);
    expect(run.turns.get('2.0.0')).toMatchObject({ parent: '2', role: 'Writer', taskIndex: 2 });
    expect(run.turns.get('2')?.items[0]).toMatchObject({ calls: [{ id: '2.0.0', isTurn: true }] });
  });
});

describe('what a run does now', () => {
  const upTo = (type: string): string => now(fold(emptyRun('run-1'), RUN.slice(0, RUN.findLastIndex((frame) => frame.type === type) + 1))).text;

  it.each([
    ['run_accepted', 'Waits in the queue'],
    ['tool_dispatched', 'one runs calculator'],
    ['llm_iteration_started', 'one waits for swift to answer'],
    ['model_failed', 'swift failed (HTTP 503); tries again'],
    ['review_requested', 'Waits for a person to review one'],
    ['cancel_requested', 'Stops at once'],
    ['ensemble_completed', 'Cancelled; outputs of finished tasks are kept'],
  ])('after %s it says so', (type, text) => {
    expect(upTo(type)).toBe(text);
  });
});

describe('a budget that is used up', () => {
  it.each([
    [{ reason: 'llm_calls', limit: 8, observed: 9 }, 'The budget is used up: 8 model calls allowed, and going on would make 9'],
    [{ reason: 'cost', limit: 0.5, observed: 0.52 }, 'The budget is used up: $0.5 allowed, and going on would make $0.52'],
    [{ reason: 'wall_clock', limit: 10_000, observed: 61_500 }, 'The budget is used up: 1 m 1 s of 10 s'],
  ])('says what was allowed, and what one more would be: %o', (breach, text) => {
    expect(breachText(breach)).toBe(text);
  });
});
