// Made from openapi.json by `npm run types`.

/** What went wrong: RFC 9457, with a code for programs. More fields may belong to a code. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  /** The code for programs. */
  error:
    | 'APPROVAL_NOT_FOUND'
    | 'APPROVAL_RESOLVED'
    | 'BAD_REQUEST'
    | 'CIRCULAR_DEPENDENCY'
    | 'COLLECTION_EXISTS'
    | 'COLLECTION_NOT_FOUND'
    | 'CONCURRENCY_LIMIT'
    | 'CONFLICT'
    | 'DRAINING'
    | 'FORBIDDEN'
    | 'IDEMPOTENCY_CONFLICT'
    | 'INTERNAL_ERROR'
    | 'INVALID_INPUT'
    | 'INVALID_MODEL'
    | 'INVALID_SCHEMA'
    | 'INVALID_TASK_OVERRIDE'
    | 'INVALID_TOOL'
    | 'LIMIT_REACHED'
    | 'METHOD_NOT_ALLOWED'
    | 'MISSING_INPUT'
    | 'NOTHING_TO_CONTINUE'
    | 'NOT_CONFIGURED'
    | 'NOT_FOUND'
    | 'OUTCOME_UNKNOWN'
    | 'PAYLOAD_TOO_LARGE'
    | 'PRECONDITION_FAILED'
    | 'PRECONDITION_REQUIRED'
    | 'REJECTED_TOO_OFTEN'
    | 'REQUEST_TIMEOUT'
    | 'REVIEW_NOT_FOUND'
    | 'REVIEW_RESOLVED'
    | 'RUN_ACTIVE'
    | 'RUN_COMPLETED'
    | 'RUN_NOT_FOUND'
    | 'STARTING'
    | 'STORAGE_DAMAGED'
    | 'STORAGE_UNAVAILABLE'
    | 'TEMPLATE_TOO_LARGE'
    | 'THREAD_BUSY'
    | 'THREAD_NOT_FOUND'
    | 'TOOL_NOT_FOUND'
    | 'TURN_NOT_RUNNING'
    | 'UNAUTHORIZED'
    | 'UNAVAILABLE'
    | 'UNSUPPORTED_MEDIA_TYPE'
    | 'VERSION_NOT_FOUND'
    | 'WORKFLOW_NOT_FOUND'
    | 'media_generation_unavailable';
  /** The same as `detail`. */
  message: string;
  /** The same as the header `X-Request-Id`. */
  requestId: string;
  /** When to try again; also the header `Retry-After`. */
  retryAfterMs?: number;
  /** Where the run stands, when that is why. */
  runStatus?: string;
  /** What was decided before. */
  decision?: string;
  /** The turn that runs. */
  turnId?: string;
  /** Everything that is wrong with a request. */
  mistakes?: {
    error: string;
    /** A path into the request. */
    place: string;
    message: string;
  }[];
  /** The version there is now. */
  version?: number;
}

/** A run in a list. */
export interface Run {
  /** True where it cannot be read: then only its row is told. */
  damaged?: boolean;
  /** Why it cannot be read. */
  damagedReason?: string;
  runId: string;
  ensemble: string;
  status: 'ACCEPTED' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'REJECTED';
  /** When it was submitted. */
  startedAt: string;
  /** Null until it has ended. */
  durationMs: number | null;
  taskCount: number;
  completedTasks: number;
  workflow: 'SEQUENTIAL' | 'PARALLEL' | 'HIERARCHICAL';
  tags: Record<string, string>;
  paused: boolean;
  cancelRequested: boolean;
  /** -1 when some model did not say. */
  totalTokens: number;
  /** How long it waited for its turn. */
  queuedMs?: number;
  /** The run it retries. */
  retryOf?: string;
  /** The run it was forked from, and the first event it did not take. */
  forkedFrom?: {
    runId: string;
    seq: number;
  };
  /** How many go before it, while it waits. */
  queuePosition?: number;
  /** The first task under way. */
  currentTask?: {
    name: string;
    index: number;
  };
  /** Why nothing happens just now. `queue`: it waits for a slot, at first or when it goes on after a review; `queuePosition` says how many wait before it. */
  waitingFor?: 'queue' | 'resume' | 'model' | 'lock' | 'retry' | 'review' | 'approval';
  /** Money, in dollars. */
  costEstimate?: {
    inputCost: number;
    outputCost: number;
  };
  /** Why it failed. */
  error?: string;
  /** An output was cut at the output limit and taken all the same. */
  truncated?: boolean;
  /** Reviews that wait for a person. */
  openReviews?: string[];
}

/** Everything about a run that fits one answer. */
export type RunDetail = Run & {
  inputs: Record<string, string>;
  model: string;
  tasks: Task[];
  metrics: Metrics;
  pendingReviews: Review[];
  /** How many events it has. */
  eventCount: number;
  /** What came out of the run: the output of the task that completed last, in a hierarchy the manager's answer; null unless it completed. `run_result` says the same. */
  output: string | null;
  /** `output` as data, when its task has a schema. */
  parsedOutput?: unknown;
  /** What it may use; what has no limit is left out. */
  limits: {
    maxTotalSubtasks?: number;
    maxTotalLlmCalls?: number;
    maxTotalToolCalls?: number;
    maxWallClockMs?: number;
    maxTotalTokens?: number;
    maxCostUsd?: number;
  };
  completedAt?: string;
};

/** A task of a run. */
export interface Task {
  name: string;
  description: string;
  taskDescription: string;
  agentRole: string;
  status: 'PENDING' | 'RUNNING' | 'WAITING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'SKIPPED';
  model?: string;
  startedAt?: string;
  completedAt?: string;
  durationMs?: number;
  tokenCount?: number;
  toolCallCount?: number;
  output?: string;
  /** The output as data, when the task has a schema. */
  parsedOutput?: unknown;
  /** The task ended in the run that this one goes on from: its times and counts are that run's. */
  inherited?: true;
  error?: string;
  /** What was said of an answer that was cut, where the task failed. */
  partialOutput?: string;
  /** The output was cut at the output limit and taken all the same. */
  truncated?: boolean;
  subtasks?: {
    id: string;
    title: string;
    depth: number;
    tokenCount: number;
    toolCallCount: number;
  }[];
}

/** What a run has used. */
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
  /** Money, in dollars. */
  costEstimate?: {
    inputCost: number;
    outputCost: number;
  };
  /** Models without a price, when the cost is not known. */
  unpriced?: string[];
}

/** A run that was taken. */
export interface Accepted {
  runId: string;
  status: 'ACCEPTED';
  tasks: number;
  workflow: 'SEQUENTIAL' | 'PARALLEL' | 'HIERARCHICAL';
  warnings?: string[];
  retryOf?: string;
  forkedFrom?: {
    runId: string;
    seq: number;
  };
}

/** What would run. */
export interface Rehearsal {
  dryRun: true;
  tasks: {
    name: string;
    description: string;
    expectedOutput: string;
    agentRole: string;
    model: string;
    tools: string[];
    context: string[];
  }[];
  workflow: 'SEQUENTIAL' | 'PARALLEL' | 'HIERARCHICAL';
  warnings: string[];
}

/** A task a request brings. */
export interface TaskRequest {
  /** May have `{variables}`. */
  description: string;
  name?: string | null;
  expectedOutput?: string | null;
  /** Who does it; derived from the description when absent. */
  agent?:
    | {
      role: string;
      /** What it wants; the description when absent. */
      goal?: string | null;
      background?: string | null;
      /** Whether it may hand work to the agents of other tasks. */
      allowDelegation?: boolean | null;
    }
    | null;
  additionalContext?: string | null;
  /** An alias. */
  model?: string | null;
  modelOptions?: ModelOptions | null;
  tools?: string[] | null;
  /** Tasks whose output it reads, as `$name` or an index. */
  context?: string[] | null;
  maxIterations?: number | string | null;
  /** An answer cut at the output limit: one of continue (the default), fail, accept, in any case. */
  onTruncated?: string | null;
  /** A JSON Schema its output must fit. */
  outputSchema?: unknown;
  /** One of required, skip, in any case. */
  review?: string | null;
}

/** A change to a configured task. */
export interface Override {
  description?: string | null;
  expectedOutput?: string | null;
  additionalContext?: string | null;
  model?: string | null;
  modelOptions?: ModelOptions | null;
  maxIterations?: number | string | null;
  /** An answer cut at the output limit: one of continue, fail, accept, in any case. */
  onTruncated?: string | null;
  tools?: {
    add?: string[];
    remove?: string[];
  } | null;
}

/** How models answer; absent: as the next says it, in the order task, run, model, provider. A fallback of another provider is asked with what it has words for. */
export interface ModelOptions {
  /** For models of Anthropic at most 1. */
  temperature?: number | null;
  topP?: number | null;
  /** Refused for models of Anthropic and over OpenAI's responses, which have none. */
  seed?: number | null;
  /** One of none, minimal, low, medium, high, xhigh, max, in any case, as far as the provider has it. */
  reasoningEffort?: string | null;
}

/** How a run is carried out. */
export interface Options {
  maxToolOutputLength?: number | null;
  toolLogTruncateLength?: number | null;
  /** One of SEQUENTIAL, PARALLEL, HIERARCHICAL, in any case. */
  workflow?: string | null;
  verbose?: boolean | null;
  /** One of NEVER, AFTER_EVERY_TASK, AFTER_LAST_TASK, in any case. */
  reviewPolicy?: string | null;
  /** What ends a review that nobody decides in time: one of CONTINUE, EXIT_EARLY, FAIL, in any case. Where neither this nor `on_timeout` of the file is written, reviews that a task demands wait for a person. */
  onTimeout?: string | null;
  /** One of OFF, STANDARD, FULL, DETAILED, in any case. */
  captureMode?: string | null;
}

/** What is to be run; without `tasks` the configured ensemble. `null` means absent; unknown fields are named in `warnings`. */
export interface RunRequest {
  /** Values of template variables. */
  inputs?: Record<string, string | number | boolean | null> | null;
  tags?: Record<string, string | number | boolean | null> | null;
  tasks?: TaskRequest[] | null;
  taskOverrides?: Record<string, Override> | null;
  options?: Options | null;
  modelOptions?: ModelOptions | null;
  /** Only say what would run. */
  dryRun?: boolean | null;
}

/** Changes a new run begins with. */
export interface Edits {
  /** The first event that is not taken over; everything when absent. For forks. */
  seq?: number | null;
  /** Instead of `seq`: what stands before this task began is taken over. For forks. */
  task?: string | null;
  inputs?: Record<string, string | number | boolean | null> | null;
  tags?: Record<string, string | number | boolean | null> | null;
  model?: string | null;
  taskOverrides?: Record<string, Override> | null;
  options?: Options | null;
  modelOptions?: ModelOptions | null;
}

/** What was asked of a run. */
export interface Steered {
  runId: string;
  status: 'CANCELLING' | 'PAUSED' | 'RESUMED';
}

/** A frame, described in `/schemas/frames.json`. */
export interface Frame {
  type: string;
}

/** One event of a stream: a frame of `/schemas/frames.json`. */
export interface ServerSentEvent {
  /** The frame. */
  data: string;
  /** The frame's type. */
  event?: string;
  /** The event's number; what is not stored has none. */
  id?: string;
}

/** Something that waits for a person. */
export interface Review {
  reviewId: string;
  runId: string;
  taskIndex: number;
  agentRole: string;
  taskDescription: string;
  turnId: string;
  taskName: string;
  taskOutput: string;
  timing: 'BEFORE_EXECUTION' | 'DURING_EXECUTION' | 'AFTER_EXECUTION';
  /** 0: it waits for ever. */
  timeoutMs: number;
  /** What happens at `expiresAt`; absent when it waits for ever. */
  onTimeout?: 'CONTINUE' | 'EXIT_EARLY' | 'FAIL';
  createdAt: string;
  /** Absent when it waits for ever. */
  expiresAt?: string;
  /** What an agent asks. */
  prompt?: string;
  /** Answers to choose from. */
  options?: string[];
}

/** Something others may use. */
export interface Capability {
  name: string;
  description: string;
  type: 'TASK' | 'TOOL';
  tags: string[];
  /** What its input must look like; a text when absent. */
  schema?: unknown;
  version?: string;
  effect?: 'read' | 'idempotent' | 'once';
  timeoutMs?: number;
}

/** What a request can choose from. */
export interface Capabilities {
  /** Values template variables have unless others are sent. */
  inputs: Record<string, string>;
  tools: {
    name: string;
    description: string;
    permission: 'safe' | 'knowledge' | 'network' | 'workspace_write' | 'editor_mutate' | 'subagent' | 'secrets';
    effect: 'read' | 'idempotent' | 'once';
    /** A JSON Schema. */
    inputSchema: unknown;
    /** Whether it may be called directly. */
    direct: boolean;
    /** Why it cannot be called at the moment. */
    unavailable?: string;
  }[];
  models: {
    alias: string;
    provider: string;
    contextTokens: number;
    maxOutputTokens: number;
    tools: boolean;
    parallelToolCalls: boolean;
    retries: number;
    fallback: string[];
    /** Dollars for a million tokens. */
    price?: {
      input: number;
      output: number;
      cachedInput: number;
    };
  }[];
  preconfiguredTasks: {
    description: string;
    tools: string[];
    variables: string[];
    name?: string;
  }[];
  sharedTasks: Capability[];
  sharedTools: Capability[];
  /** Servers whose tools come and go. */
  mcpServers: {
    name: string;
    /** Names of its tools. */
    tools: string[];
    /** Why none of them can be called at the moment. */
    unavailable?: string;
  }[];
}

/** What a tool answered. A tool that failed is an answer too. */
export interface Invoked {
  tool: string;
  durationMs: number;
  status: 'SUCCESS' | 'FAILED';
  output?: string;
  /** The output as data. */
  data?: unknown;
  errorMessage?: string;
  /** `TOOL_TIMEOUT` when it took too long. */
  error?: string;
}

/** This ensemble and the others. */
export interface Network {
  ensemble: string;
  realm: string | null;
  version: string;
  leaseMs: number;
  status: 'available' | 'busy' | 'draining';
  /** How much of its room for peers' work is taken, from 0 to 1. */
  currentLoad: number;
  /** How much it does for peers at a time. */
  maxConcurrent: number;
  sharedCapabilities: Capability[];
  /** How many are known here. */
  capabilities: number;
  peers: Peer[];
  /** Ensembles that were here and went away, the newest first, at most 100. */
  gone: {
    name: string;
    /** When it went away. */
    at: string;
    /** What it shared. */
    sharedCapabilities: Capability[];
    ensemble?: string;
    realm?: string;
    version?: string;
  }[];
}

/** Another ensemble. */
export interface Peer {
  name: string;
  connected: boolean;
  /** Whether the link was opened from here. */
  dialled: boolean;
  /** Since when it is connected. */
  since?: string;
  sharedCapabilities: Capability[];
  ensemble?: string;
  realm?: string;
  version?: string;
  /** Why there is no link, or what is wrong with what it says about itself. */
  error?: string;
  status?: 'available' | 'busy' | 'draining';
  currentLoad?: number;
  maxConcurrent?: number;
  /** What it was asked for and has not answered, at most 100. */
  requests: {
    requestId: string;
    capability: string;
    /** As the peer says, like the rest. */
    status?: string;
    message?: string;
    percentComplete?: number;
  }[];
}

/** How the server is. */
export interface Status {
  status: 'running';
  clients: number;
  port: number;
  lifecycleState: Lifecycle;
  activeTasks: number;
  queueDepth: number;
  ensemble: string;
  version: string;
  sharedCapabilities: Capability[];
}

export type Lifecycle = 'STARTING' | 'READY' | 'DRAINING';

/** Whether the server takes work. */
export interface Health {
  status: string;
  lifecycleState: Lifecycle;
}

/** A conversation. */
export interface Thread {
  /** True where it cannot be read: then only its row is told. */
  damaged?: boolean;
  /** Why it cannot be read. */
  damagedReason?: string;
  id: string;
  title: string;
  model: string | null;
  createdAt: string;
  updatedAt: string;
  running: boolean;
  /** The turn that runs. */
  turnId: string | null;
  /** The number of its last frame. */
  chatSeq: number | null;
  /** Messages that wait. */
  queued: number;
  /** What was kept of turns whose messages asked for it with `memory_enabled`. */
  memory: {
    /** Turns that are yet to be looked through. */
    pending: string[];
    last: Mined | null;
  };
  /** What its turns may do without asking, where a message does not say and it was changed. */
  permissionMode?: 'plan' | 'default' | 'auto' | null;
}

/** A turn of a conversation, and what it has used. */
export interface ListedTurn {
  turnId: string;
  threadId: string;
  status: 'ACCEPTED' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED';
  startedAt: string;
  /** Null until it has ended. */
  durationMs: number | null;
  /** -1 when some model did not say. */
  totalTokens: number;
  /** Null when a model has no price. */
  totalUsd: number | null;
}

/** What came of looking through a turn for what is worth remembering. */
export interface Mined {
  turnId: string;
  status: 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'SKIPPED';
  /** Why nothing could be remembered. */
  reason: string | null;
  /** Facts that are from this turn. */
  facts: number;
  /** What it took, beside what the turn took. */
  cost: {
    llmCalls: number;
    inputTokens: number;
    outputTokens: number;
    totalUsd: number | null;
  };
}

/** Something that is remembered about the caller. */
export interface RememberedFact {
  /** True where it cannot be read: then only its row is told. */
  damaged?: boolean;
  /** Why it cannot be read. */
  damagedReason?: string;
  id: string;
  text: string;
  /** Where it was said. */
  threadId: string;
  turnId: string;
  createdAt: string;
}

/** A row of a conversation. */
export interface Message {
  id: string;
  role: 'user' | 'assistant' | 'tool';
  content: string;
  tool_calls: {
    id: string;
    name: string;
    args: unknown;
  }[] | null;
  tool_call_id: string | null;
  /** A tool failed; of an assistant's row, the turn failed and `content` ends with why. */
  is_error: boolean;
  /** Why the turn failed, in an assistant's row. */
  error: string | null;
  /** An answer that was cut at the output limit; the last one can be continued. */
  truncated: boolean;
  /** The id of the row it goes on with, which was cut. */
  continues: string | null;
  turn_id: string;
  /** The calls of the turn. */
  execution_tree:
    | {
      version: number;
      nodes: {
        id: string;
        parent_id: string | null;
        name: string;
        args_preview: string;
        result_preview: string;
        is_error: boolean;
        duration_ms: number;
        title?: string;
      }[];
    }
    | null;
  created_at: string;
}

/** A message. */
export interface Say {
  content: string;
  model?: string | null;
  /** `{kind: "editor", workflowId}`: the workflow that is open. */
  chat_context?: Record<string, unknown> | string | null;
  workflow_target?: string | null;
  workflow_id?: string | null;
  collections?: string[] | null;
  memory_enabled?: boolean | null;
  permission_mode?: 'plan' | 'default' | 'auto' | null;
  if_busy?: 'interrupt' | 'reject' | 'queue' | null;
}

/** A message that was taken: it has begun, or waits. */
export interface Said {
  threadId: string;
  turnId: string;
  /** The first `chat_seq` of the turn. */
  seq?: number;
  queuePosition?: number;
}

/** A call of a chat that waits for a person. */
export interface Approval {
  approval_id: string;
  thread_id: string;
  turn_id: string;
  tool_call_id: string;
  tool_name: string;
  category: string;
  args: unknown;
  message: string;
  created_at: string;
  expires_at: string | null;
  parent_id: string | null;
  depth: number;
}

/** Documents to be searched. */
export interface Collection {
  /** True where it cannot be read: then only its row is told. */
  damaged?: boolean;
  /** Why it cannot be read. */
  damagedReason?: string;
  name: string;
  documents: number;
  createdAt: string;
  updatedAt: string;
}

/** A run as it is exported for reading. */
export interface Trace {
  schemaVersion: string;
  captureMode: string;
  ensembleId: string;
  workflow: 'SEQUENTIAL' | 'PARALLEL' | 'HIERARCHICAL';
  startedAt: string;
  completedAt: string | null;
  totalDuration: string;
  inputs: Record<string, string>;
  agents: {
    role: string;
    goal: string;
    background: string;
    toolNames: string[];
    allowDelegation: boolean;
  }[];
  taskTraces: TaskTrace[];
  metrics: Record<string, unknown>;
  totalCostEstimate: Record<string, unknown> | null;
  errors: {
    taskDescription: string | null;
    agentRole: string | null;
    turnId: string;
    message: string;
    at: string;
    /** It was taken from the run that this one goes on from. */
    inherited?: true;
  }[];
  metadata: Record<string, unknown>;
}

/** A conversation of a run. */
export interface TaskTrace {
  taskDescription: string;
  expectedOutput: string;
  agentRole: string;
  startedAt: string;
  completedAt: string | null;
  duration: string;
  prompts: {
    systemPrompt: string;
    userPrompt: string;
  } | null;
  llmInteractions: {
    iterationIndex: number;
    startedAt: string;
    completedAt: string;
    latency: string;
    inputTokens: number;
    outputTokens: number;
    responseType: string;
    responseText: string;
    toolCalls: Record<string, unknown>[];
    messages: Record<string, unknown>[];
    /** It was taken from the run that this one goes on from. */
    inherited?: true;
  }[];
  delegations: Record<string, unknown>[];
  finalOutput: string | null;
  parsedOutput: unknown;
  /** It was taken from the run that this one goes on from. */
  inherited?: true;
  metrics: Record<string, unknown>;
  metadata: Record<string, unknown>;
}

/** A name runs remember under. */
export interface Scope {
  /** True where it cannot be read: then only its row is told. */
  damaged?: boolean;
  /** Why it cannot be read. */
  damagedReason?: string;
  scope: string;
  type: 'memory' | 'reflection';
  entries: number;
}

/** A task, and where it stands on the canvas. */
export type WorkflowTask = TaskRequest & {
  position?: {
    x: number;
    y: number;
  } | null;
};

/** A task graph as people draw it; what was shown may be sent back. */
export interface WorkflowDocument {
  name: string;
  tasks: WorkflowTask[];
  description?: string | null;
  inputs?: Record<string, string | number | boolean | null> | null;
  options?: Options | null;
  modelOptions?: ModelOptions | null;
}

/** A version of a saved workflow. */
export interface Workflow {
  id: string;
  version: number;
  createdAt: string;
  updatedAt: string;
  updatedBy: string;
  name: string;
  tasks: WorkflowTask[];
  description?: string;
  inputs?: Record<string, string>;
  options?: Options;
  warnings?: string[];
}

/** A saved workflow in a list. */
export interface ListedWorkflow {
  /** True where it cannot be read: then only its row is told. */
  damaged?: boolean;
  /** Why it cannot be read. */
  damagedReason?: string;
  id: string;
  name: string;
  description: string | null;
  tasks: number;
  version: number;
  createdAt: string;
  updatedAt: string;
  updatedBy: string;
}

/** A version in the history of a workflow. */
export interface WorkflowVersion {
  /** True where it cannot be read: then only its row is told. */
  damaged?: boolean;
  /** Why it cannot be read. */
  damagedReason?: string;
  version: number;
  savedAt: string;
  savedBy: string;
  name: string;
  description: string | null;
  tasks: number;
}

/** What a run of a workflow brings. */
export interface WorkflowRun {
  inputs?: Record<string, string | number | boolean | null> | null;
  tags?: Record<string, string | number | boolean | null> | null;
  options?: Options | null;
  modelOptions?: ModelOptions | null;
  dryRun?: boolean | null;
}

/** The body and the answer of each request, as JSON. */
export interface Requests {
  /** Start a run */
  'POST /api/runs': {
    body: RunRequest;
    answer: RunDetail | Rehearsal | Accepted;
  };
  /** List runs, the newest first */
  'GET /api/runs': {
    answer: {
      runs: Run[];
      total: number;
    };
  };
  /** Everything about a run */
  'GET /api/runs/{id}': {
    answer: RunDetail;
  };
  /** Erase an ended run, cancel any other */
  'DELETE /api/runs/{id}': {
    answer: Steered;
  };
  /** Stop a run */
  'POST /api/runs/{id}/cancel': {
    body: {
      /** How soon: after_task, after_iteration or now; after_task when absent. */
      mode?: string | null;
    };
    answer: Steered;
  };
  /** Begin nothing new until it is resumed */
  'POST /api/runs/{id}/pause': {
    answer: Steered;
  };
  /** Go on */
  'POST /api/runs/{id}/resume': {
    answer: Steered;
  };
  /** Ask another model from now on */
  'POST /api/runs/{id}/model': {
    body: {
      /** An alias. */
      model: string;
    };
    answer: {
      runId: string;
      model: string;
      previousModel: string | null;
      status: 'APPLIED';
    };
  };
  /** Say something to the agents of a run */
  'POST /api/runs/{id}/inject': {
    body: {
      content: string;
      /** A role or a task; everybody when absent. */
      target?: string | null;
      /** One of LOW, NORMAL, HIGH, in any case. */
      priority?: string | null;
      /** How long it matters, as in `PT10M`. */
      ttl?: string | null;
      /** In whose name it is said. */
      onBehalfOf?: string | null;
    };
    answer: {
      directiveId: string;
      status: 'ACTIVE';
    };
  };
  /** Run what did not complete again */
  'POST /api/runs/{id}/retry': {
    body: Edits;
    answer: RunDetail | Accepted;
  };
  /** A new run that begins with the record of another */
  'POST /api/runs/{id}/fork': {
    body: Edits;
    answer: RunDetail | Accepted;
  };
  /** A run's frames, as they come or page by page */
  'GET /api/runs/{id}/events': {
    answer: {
      events: Frame[];
    };
  };
  /** A run as it is exported for reading */
  'GET /api/runs/{id}/trace': {
    answer: Trace;
  };
  /** What waits for a person */
  'GET /api/reviews': {
    answer: {
      total: number;
      reviews: Review[];
    };
  };
  /** Decide a review */
  'POST /api/reviews/{id}': {
    body: {
      /** CONTINUE (or APPROVE), EDIT, EXIT_EARLY or REJECT. */
      decision: string;
      /** Needed by EDIT. */
      revisedOutput?: string | null;
      /** Needed by REJECT. */
      feedback?: string | null;
    };
    answer: {
      reviewId: string;
      decision: string;
      status: 'APPLIED';
    };
  };
  /** Calls of chats that wait for a person */
  'GET /api/approvals': {
    answer: {
      total: number;
      approvals: Approval[];
    };
  };
  /** Allow a call, or not */
  'POST /api/approvals/{id}': {
    body: {
      /** One of allow, allow_for_chat, deny, in any case. */
      decision: string;
    };
    answer: {
      approval_id: string;
      decision: 'allow' | 'allow_for_chat' | 'deny';
      status: 'APPLIED';
    };
  };
  /** Conversations, the newest first */
  'GET /api/threads': {
    answer: {
      total: number;
      threads: Thread[];
    };
  };
  /** Begin a conversation */
  'POST /api/threads': {
    body: {
      title?: string | null;
    };
    answer: Thread;
  };
  /** A conversation */
  'GET /api/threads/{id}': {
    answer: Thread;
  };
  /** Rename a conversation, or change what its turn may do unasked */
  'PATCH /api/threads/{id}': {
    body: {
      title?: string | null;
      permission_mode?: 'plan' | 'default' | 'auto' | null;
    };
    answer: Thread;
  };
  /** Erase a conversation */
  'DELETE /api/threads/{id}': {
    answer: unknown;
  };
  /** What was said */
  'GET /api/threads/{id}/messages': {
    answer: {
      messages: Message[];
    };
  };
  /** Say something */
  'POST /api/threads/{id}/messages': {
    body: Say;
    answer: Said;
  };
  /** A conversation's frames, as they come or page by page */
  'GET /api/threads/{id}/events': {
    answer: {
      events: Frame[];
    };
  };
  /** Go on with the last answer, which was cut */
  'POST /api/threads/{id}/continue': {
    answer: Said;
  };
  /** Stop the turn that runs */
  'POST /api/threads/{id}/stop': {
    answer: {
      threadId: string;
      turnId: string;
      status: 'STOPPING';
    };
  };
  /** A conversation as Markdown */
  'GET /api/threads/{id}/export': {
    answer: unknown;
  };
  /** What conversations have used, turn by turn */
  'GET /api/turns': {
    answer: {
      turns: ListedTurn[];
      total: number;
    };
  };
  /** Collections of documents */
  'GET /api/collections': {
    answer: {
      collections: Collection[];
    };
  };
  /** Make a collection */
  'POST /api/collections': {
    body: {
      name: string;
    };
    answer: Collection;
  };
  /** Add a document */
  'POST /api/collections/{name}/documents': {
    body: {
      title: string;
      content: string;
    };
    answer: {
      /** Whether it is found by its meaning too. False without `[chat] embeddings`, and while that model does not answer: it is asked again later. */
      embedded: boolean;
      id: number;
      collection: string;
      title: string;
    };
  };
  /** Find passages */
  'GET /api/collections/{name}/search': {
    answer: {
      results: {
        collection: string;
        documentId: number;
        title: string;
        snippet: string;
        score: number;
      }[];
    };
  };
  /** Call a tool directly */
  'POST /api/tools/{name}/invoke': {
    body: {
      /** The arguments, as the tool's schema wants them; a text is that object as JSON, or else stands for its only required text. */
      input?: Record<string, unknown> | string | null;
    };
    answer: Invoked;
  };
  /** What a request can choose from */
  'GET /api/capabilities': {
    answer: Capabilities;
  };
  /** The other ensembles, and what they share */
  'GET /api/network': {
    answer: Network;
  };
  /** What is remembered about the caller */
  'GET /api/facts': {
    answer: {
      facts: RememberedFact[];
      total: number;
    };
  };
  /** Erase everything that is remembered about the caller */
  'DELETE /api/facts': {
    answer: {
      forgotten: number;
    };
  };
  /** Erase one fact */
  'DELETE /api/facts/{id}': {
    answer: unknown;
  };
  /** What runs remember for later ones */
  'GET /api/memory': {
    answer: {
      scopes: Scope[];
      total: number;
    };
  };
  /** What is remembered under a name */
  'GET /api/memory/{scope}': {
    answer: {
      /** True where it cannot be read: then only its row is told. */
      damaged?: boolean;
      /** Why it cannot be read. */
      damagedReason?: string;
      scope: string;
      type: 'memory' | 'reflection';
      entries: {
        key: string;
        text: string;
        createdAt: string;
      }[];
    };
  };
  /** Forget everything under a name */
  'DELETE /api/memory/{scope}': {
    answer: unknown;
  };
  /** Forget one entry */
  'DELETE /api/memory/{scope}/{key}': {
    answer: unknown;
  };
  /** The files ended runs left */
  'GET /api/files': {
    answer: {
      files: {
        name: string;
        type: string;
        sizeBytes: number;
      }[];
      directory: string;
    };
  };
  /** A trace file */
  'GET /api/file': {
    answer: unknown;
  };
  /** The files agents work on */
  'GET /api/workspace/files': {
    answer: {
      name: string;
      type: 'file' | 'directory';
      size?: number;
      lastModified?: string;
    }[];
  };
  /** A file agents work on */
  'GET /api/workspace/file': {
    answer: unknown;
  };
  /** How the server is */
  'GET /api/status': {
    answer: Status;
  };
  /** Whether the server answers */
  'GET /api/health/live': {
    answer: {
      status: 'UP';
    };
  };
  /** Whether the server takes work */
  'GET /api/health/ready': {
    answer: Health;
  };
  /** Whether the server has started */
  'GET /api/health/startup': {
    answer: Health;
  };
  /** Finish what runs, take nothing new, and stop */
  'POST /api/lifecycle/drain': {
    answer: {
      status: 'DRAINING';
    };
  };
  /** What there is and what has happened, for Prometheus */
  'GET /metrics': {
    answer: unknown;
  };
  /** This description */
  'GET /openapi.json': {
    answer: Record<string, unknown>;
  };
  /** Every frame of sockets and streams */
  'GET /schemas/frames.json': {
    answer: Record<string, unknown>;
  };
  /** This description as a page */
  'GET /api/docs': {
    answer: unknown;
  };
  /** What the page is made of */
  'GET /api/docs/{file}': {
    answer: unknown;
  };
  /** Everything that happens and can be asked, over one socket */
  'GET /ws': {
    answer: unknown;
  };
  /** Saved workflows */
  'GET /api/workflows': {
    answer: {
      workflows: ListedWorkflow[];
      total: number;
    };
  };
  /** Save a new workflow */
  'POST /api/workflows': {
    body: WorkflowDocument;
    answer: Workflow;
  };
  /** The newest version */
  'GET /api/workflows/{id}': {
    answer: Workflow;
  };
  /** Save a new version */
  'PUT /api/workflows/{id}': {
    body: WorkflowDocument;
    answer: Workflow;
  };
  /** Erase a workflow */
  'DELETE /api/workflows/{id}': {
    answer: unknown;
  };
  /** Who saved what and when */
  'GET /api/workflows/{id}/history': {
    answer: {
      versions: WorkflowVersion[];
      total: number;
    };
  };
  /** One version */
  'GET /api/workflows/{id}/versions/{version}': {
    answer: Workflow;
  };
  /** Run a workflow */
  'POST /api/workflows/{id}/runs': {
    body: WorkflowRun;
    answer: RunDetail | Rehearsal | Accepted;
  };
}
