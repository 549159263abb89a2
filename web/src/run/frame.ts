// The frames of a run, as the server sends them: one for each stored event, plus tokens and the result.

import type { CancelMode, Review, TaskStatus, Workflow } from '../api/types';

export interface Quoted {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string | null;
  toolCalls?: ToolRequest[] | null;
  toolName?: string | null;
}

export interface ToolRequest {
  name: string;
  arguments: unknown;
}

interface Stored {
  runId: string;
  seq: number;
  at: string;
}

/** Whose frame it is. `turnId` is the task's number, or the id of the call that became a subtask. */
interface Placed extends Stored {
  taskIndex: number;
  agentRole: string;
  taskDescription: string;
  turnId: string;
  taskName?: string;
}

export interface DeclaredTask {
  taskIndex: number;
  name: string;
  agentRole: string;
  context: number[];
}

export type StoredFrame =
  | (Stored & { type: 'run_accepted'; ensemble: string; workflow: Workflow; totalTasks: number; tasks: DeclaredTask[] })
  | (Stored & { type: 'run_adopted'; epoch: number })
  | (Stored & { type: 'ensemble_started'; totalTasks: number; workflow: Workflow })
  | (Placed & { type: 'task_started' })
  | (Placed & { type: 'task_input'; expectedOutput?: string; toolNames: string[]; assembledContext?: string })
  | (Placed & { type: 'chore_started'; chore: string; toolNames: string[] })
  | (Placed & { type: 'reflection_started' })
  | (Placed & {
      type: 'llm_iteration_started';
      iterationIndex: number;
      model: string;
      messages: Quoted[];
      totalMessageCount: number;
    })
  | (Placed & { type: 'model_retried'; iterationIndex: number; model?: string; attempt: number })
  | (Placed & {
      type: 'llm_iteration_completed';
      iterationIndex: number;
      responseType: 'TOOL_CALLS' | 'FINAL_ANSWER';
      responseText?: string;
      toolRequests?: ToolRequest[];
      inputTokens: number;
      outputTokens: number;
      latencyMs: number;
    })
  | (Placed & {
      type: 'metrics_snapshot';
      inputTokens: number;
      outputTokens: number;
      llmLatencyMs: number;
      toolExecutionTimeMs: number;
      iterationCount: number;
      costEstimate?: string;
    })
  | (Placed & { type: 'model_failed'; iterationIndex: number; model?: string; error: string; message: string; then: AfterFailure })
  | (Placed & { type: 'history_dropped'; exchanges: number })
  | (Placed & { type: 'output_rejected'; iterationIndex: number; violations: string[] })
  | (Placed & { type: 'last_round' })
  | (Placed & { type: 'loop_noticed'; toolName: string; times: number })
  | (Placed & { type: 'tool_dispatched'; callId: string; toolName: string; toolArguments: string })
  | (Placed & { type: 'subtask_started'; callId: string; title: string; instructions: string; toolNames: string[]; depth: number })
  | (Stored & { type: 'delegation_started'; delegationId: string; delegatingAgentRole?: string; workerRole: string; taskDescription: string })
  | (Stored & { type: 'delegation_completed'; delegationId: string; workerRole: string; durationMs: number })
  | (Stored & { type: 'delegation_failed'; delegationId: string; workerRole: string; reason: string })
  | (Placed & {
      type: 'tool_called';
      callId: string;
      toolName: string;
      durationMs: number;
      outcome: 'SUCCESS' | 'FAILURE';
      toolArguments: string;
      toolResult: string;
      structuredResult?: unknown;
    })
  | (Stored & Omit<Review, 'runId'> & { type: 'review_requested' })
  | (Stored & { type: 'review_decided'; reviewId: string; decision: string; by: string; revisedOutput?: string; feedback?: string })
  | (Stored & { type: 'review_timed_out'; reviewId: string; action: string })
  | (Stored & { type: 'review_closed'; reviewId: string })
  | (Placed & {
      type: 'task_completed';
      durationMs: number;
      tokenCount: number;
      toolCallCount: number;
      output?: string;
      parsedOutput?: unknown;
    })
  | (Placed & { type: 'task_failed'; reason: string; cancelled?: boolean })
  | (Placed & { type: 'task_skipped'; reason: string })
  | (Stored & { type: 'directive_active'; directiveId: string; from: string; content: string; target?: string; priority: string })
  | (Stored & { type: 'directive_delivered'; directiveId: string; taskIndex: number; iterationIndex: number })
  | (Stored & { type: 'model_switched'; model: string; previousModel: string; taskIndex: number; iterationIndex: number; by: string })
  | (Stored & { type: 'cancel_requested'; mode: CancelMode; by: string })
  | (Stored & { type: 'run_paused'; by: string })
  | (Stored & { type: 'run_resumed'; by: string })
  | (Stored & { type: 'budget_exceeded'; reason: string; limit: number; observed: number })
  | (Placed & { type: 'file_changed'; filePath: string; changeType: string; linesAdded: number; linesRemoved: number })
  | (Stored & {
      type: 'ensemble_completed';
      durationMs: number;
      exitReason: string;
      totalTokens: number;
      totalToolCalls: number;
      error?: string;
    });

export type AfterFailure =
  | { action: 'retry'; at: string }
  | { action: 'fallback'; model: string }
  | { action: 'shorten' }
  | { action: 'give_up' };

export interface TokenFrame {
  type: 'token';
  turnId: string;
  token: string;
  sentAt: string;
}

export interface ResultFrame {
  type: 'run_result';
  runId: string;
  status: 'COMPLETED' | 'FAILED' | 'CANCELLED';
  error?: string;
}

export type Frame = StoredFrame | TokenFrame | ResultFrame;

export const isStored = (frame: Frame): frame is StoredFrame => 'seq' in frame;

export const isOver = (status: TaskStatus): boolean =>
  status === 'COMPLETED' || status === 'FAILED' || status === 'CANCELLED' || status === 'SKIPPED';
