// The frames of one whole run, for tests.

import { fold } from './fold';
import { emptyRun } from './seed';
import type { Frame, StoredFrame } from './frame';

export const at = (seq: number): string => new Date(Date.UTC(2026, 0, 1) + seq * 1_000).toISOString();

/** Frames numbered from 0, one second apart. */
export function told(...frames: object[]): StoredFrame[] {
  return frames.map((frame, seq) => ({ runId: 'run-1', seq, at: at(seq), ...frame }) as StoredFrame);
}

export const place = (turnId: string, taskName: string): object => ({
  taskIndex: Number(turnId.split('.')[0]),
  turnId,
  taskName,
  agentRole: 'Writer',
  taskDescription: `Do ${taskName}`,
});

export const SYSTEM = { role: 'system', content: 'You are Writer.' };

export const USER = { role: 'user', content: 'Do it' };

/** A task that calls a tool, is told something, fails once, answers and is reviewed; another that is cancelled. */
export const RUN = told(
  {
    type: 'run_accepted',
    ensemble: 'demo',
    workflow: 'PARALLEL',
    totalTasks: 2,
    tasks: [
      { taskIndex: 1, name: 'one', agentRole: 'Writer', context: [] },
      { taskIndex: 2, name: 'two', agentRole: 'Writer', context: [1] },
    ],
  },
  { type: 'run_adopted', epoch: 1 },
  { type: 'ensemble_started', totalTasks: 2, workflow: 'PARALLEL' },
  { type: 'task_started', ...place('1', 'one') },
  { type: 'task_input', ...place('1', 'one'), toolNames: ['calculator'], assembledContext: 'Do it' },
  {
    type: 'llm_iteration_started',
    ...place('1', 'one'),
    iterationIndex: 0,
    model: 'swift',
    messages: [SYSTEM, USER],
    totalMessageCount: 2,
  },
  {
    type: 'llm_iteration_completed',
    ...place('1', 'one'),
    iterationIndex: 0,
    responseType: 'TOOL_CALLS',
    toolRequests: [{ name: 'calculator', arguments: '{}' }],
    inputTokens: 10,
    outputTokens: 2,
    latencyMs: 5,
  },
  {
    type: 'metrics_snapshot',
    ...place('1', 'one'),
    inputTokens: 10,
    outputTokens: 2,
    llmLatencyMs: 5,
    toolExecutionTimeMs: 0,
    iterationCount: 1,
    costEstimate: '0.50000000',
  },
  {
    type: 'tool_dispatched',
    ...place('1', 'one'),
    callId: '1.0.0',
    toolName: 'calculator',
    toolArguments: '{"input":"6*7"}',
  },
  { type: 'directive_active', directiveId: 'd0', from: 'local', content: 'Be brief', target: 'one', priority: 'HIGH' },
  {
    type: 'tool_called',
    ...place('1', 'one'),
    callId: '1.0.0',
    toolName: 'calculator',
    durationMs: 3,
    outcome: 'SUCCESS',
    toolArguments: '{"input":"6*7"}',
    toolResult: '42',
  },
  { type: 'directive_delivered', directiveId: 'd0', taskIndex: 1, iterationIndex: 1 },
  {
    type: 'llm_iteration_started',
    ...place('1', 'one'),
    iterationIndex: 1,
    model: 'swift',
    totalMessageCount: 5,
    messages: [
      SYSTEM,
      USER,
      { role: 'assistant', content: null },
      { role: 'tool', content: '42' },
      { role: 'user', content: 'Be brief' },
    ],
  },
  {
    type: 'model_failed',
    ...place('1', 'one'),
    iterationIndex: 1,
    error: 'unavailable',
    message: 'HTTP 503',
    then: { action: 'retry', at: at(20) },
  },
  { type: 'model_retried', ...place('1', 'one'), iterationIndex: 1, attempt: 1 },
  {
    type: 'llm_iteration_completed',
    ...place('1', 'one'),
    iterationIndex: 1,
    responseType: 'FINAL_ANSWER',
    responseText: '42',
    inputTokens: 20,
    outputTokens: 3,
    latencyMs: 9,
  },
  {
    type: 'metrics_snapshot',
    ...place('1', 'one'),
    inputTokens: 30,
    outputTokens: 5,
    llmLatencyMs: 14,
    toolExecutionTimeMs: 3,
    iterationCount: 2,
    costEstimate: '1.25000000',
  },
  {
    type: 'review_requested',
    ...place('1', 'one'),
    reviewId: 'run-1-review-0',
    taskOutput: '42',
    timing: 'AFTER_EXECUTION',
    timeoutMs: 60_000,
    onTimeout: 'CONTINUE',
    createdAt: at(17),
    expiresAt: at(77),
  },
  { type: 'review_decided', reviewId: 'run-1-review-0', decision: 'EDIT', by: 'ana', revisedOutput: '43' },
  { type: 'task_completed', ...place('1', 'one'), durationMs: 16_000, tokenCount: 35, toolCallCount: 1, output: '43' },
  { type: 'task_started', ...place('2', 'two') },
  { type: 'cancel_requested', mode: 'now', by: 'ana' },
  { type: 'task_failed', ...place('2', 'two'), reason: 'Cancelled', cancelled: true },
  { type: 'ensemble_completed', durationMs: 23_000, exitReason: 'CANCELLED', totalTokens: 35, totalToolCalls: 1 },
);

export const whole = fold(emptyRun('run-1'), RUN);

export const words = (token: string, offset: number): Frame => ({
  type: 'token',
  runId: 'run-1',
  taskIndex: 1,
  agentRole: 'Writer',
  taskDescription: 'Do one',
  turnId: '1',
  token,
  offset,
  sentAt: at(6),
});
