// What the server sends. Names are the server's own; fields a client can do without are optional.

export type RunStatus = 'ACCEPTED' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED';
export type TaskStatus = 'PENDING' | 'RUNNING' | 'WAITING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'SKIPPED';
export type Workflow = 'SEQUENTIAL' | 'PARALLEL' | 'HIERARCHICAL';
export type WaitingFor = 'queue' | 'resume' | 'model' | 'lock' | 'retry' | 'review';
export type CancelMode = 'after_task' | 'after_iteration' | 'now';
export type Tags = Record<string, string>;

export interface Cost {
  inputCost: number;
  outputCost: number;
}

export interface RunRow {
  runId: string;
  ensemble: string;
  status: RunStatus;
  startedAt: string;
  durationMs: number | null;
  taskCount: number;
  completedTasks: number;
  workflow: Workflow;
  tags: Tags;
  paused: boolean;
  cancelRequested: boolean;
  totalTokens: number;
  currentTask?: { name: string; index: number };
  waitingFor?: WaitingFor;
  queuePosition?: number;
  costEstimate?: Cost;
  error?: string;
  openReviews?: string[];
}

export interface RunList {
  runs: RunRow[];
  total: number;
}

export interface Metrics {
  totalTokens: number;
  totalToolCalls: number;
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens: number;
  reasoningTokens: number;
  llmCalls: number;
  subtasks: number;
  llmLatencyMs: number;
  toolExecutionTimeMs: number;
  costEstimate?: Cost;
  unpriced?: string[];
}

/** What a run may use altogether; what is absent has no limit. */
export interface Limits {
  maxTotalSubtasks?: number;
  maxTotalLlmCalls?: number;
  maxTotalToolCalls?: number;
  maxWallClockMs?: number;
  maxTotalTokens?: number;
  maxCostUsd?: number;
}

export interface TaskDetail {
  name: string;
  description: string;
  agentRole: string;
  status: TaskStatus;
  model?: string;
  startedAt?: string;
  completedAt?: string;
  durationMs?: number;
  tokenCount?: number;
  toolCallCount?: number;
  output?: string;
  parsedOutput?: unknown;
  error?: string;
}

export interface RunDetail extends RunRow {
  inputs: Record<string, string>;
  model: string;
  tasks: TaskDetail[];
  metrics: Metrics;
  eventCount: number;
  limits: Limits;
  pendingReviews: Review[];
  completedAt?: string;
  retryOf?: string;
  forkedFrom?: { runId: string; seq: number };
}

export type Timing = 'BEFORE_EXECUTION' | 'DURING_EXECUTION' | 'AFTER_EXECUTION';

export interface Review {
  reviewId: string;
  runId: string;
  taskIndex: number;
  turnId?: string;
  taskName?: string;
  agentRole?: string;
  taskDescription: string;
  taskOutput: string;
  timing: Timing;
  prompt?: string;
  options?: string[] | null;
  timeoutMs: number;
  onTimeout: 'CONTINUE' | 'EXIT_EARLY' | 'FAIL';
  createdAt: string;
  expiresAt?: string | null;
}

export type Decision =
  | { decision: 'CONTINUE' | 'EXIT_EARLY' }
  | { decision: 'EDIT'; revisedOutput: string }
  | { decision: 'REJECT'; feedback: string };

export interface ToolInfo {
  name: string;
  description: string;
  permission: string;
  effect: 'read' | 'idempotent' | 'once';
  inputSchema: unknown;
  /** Whether it may be called without an agent. */
  direct: boolean;
  /** Why it cannot be called at the moment. */
  unavailable?: string;
}

export interface ModelInfo {
  alias: string;
  provider: string;
  contextTokens: number;
  maxOutputTokens: number;
  tools: boolean;
  parallelToolCalls: boolean;
  retries: number;
  fallback: string[];
  /** In US dollars for a million tokens. */
  price?: { input: number; output: number; cachedInput: number };
}

export interface PreconfiguredTask {
  name?: string;
  description: string;
  tools: string[];
  variables: string[];
}

export interface Capabilities {
  tools: ToolInfo[];
  models: ModelInfo[];
  preconfiguredTasks: PreconfiguredTask[];
  /** What the ensemble's variables are when a run says nothing. */
  inputs: Record<string, string>;
  sharedTasks: { name: string; description: string }[];
  sharedTools: { name: string; description: string }[];
}

export interface ServerStatus {
  status: string;
  clients: number;
  port: number;
  lifecycleState: string;
  activeTasks: number;
  queueDepth: number;
  ensemble: string;
  version: string;
}

export interface TaskDraft {
  name?: string;
  description: string;
  expectedOutput?: string;
  model?: string;
  tools?: string[];
  context?: string[];
  review?: 'required' | 'skip';
  maxIterations?: number;
  outputSchema?: unknown;
  additionalContext?: string;
}

export interface TaskOverride {
  description?: string;
  expectedOutput?: string;
  model?: string;
  maxIterations?: number;
  additionalContext?: string;
  tools?: { add?: string[]; remove?: string[] };
}

export interface RunOptions {
  workflow?: Workflow;
  reviewPolicy?: 'NEVER' | 'AFTER_EVERY_TASK' | 'AFTER_LAST_TASK';
  captureMode?: 'OFF' | 'STANDARD' | 'FULL';
  verbose?: boolean;
}

export interface RunRequest {
  inputs?: Record<string, string>;
  tags?: Tags;
  tasks?: TaskDraft[];
  taskOverrides?: Record<string, TaskOverride>;
  options?: RunOptions;
  dryRun?: boolean;
}

export interface Rehearsal {
  dryRun: true;
  workflow: Workflow;
  warnings: string[];
  tasks: {
    name: string;
    description: string;
    expectedOutput?: string;
    agentRole: string;
    model: string;
    tools: string[];
    context: string[];
  }[];
}

export interface ToolAnswer {
  tool: string;
  status: 'SUCCESS' | 'FAILED';
  durationMs: number;
  output?: string;
  data?: unknown;
  errorMessage?: string;
  error?: string;
}
