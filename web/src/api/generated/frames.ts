// Made from schemas/frames.json by `npm run types`.

export type ServerFrame =
  | ServerHello
  | ServerHeartbeat
  | ServerPong
  | ServerAuthAck
  | ServerSubscribeAck
  | ServerError
  | ServerRunAck
  | ServerRunControlAck
  | ServerStateResponse
  | ServerReviewDecisionAck
  | ServerDirectiveAck
  | ServerCapabilityResponse
  | ServerRunResult
  | ServerToken
  | ServerToolProgress
  | ServerRunAccepted
  | ServerRunAdopted
  | ServerRunForked
  | ServerEnsembleStarted
  | ServerEnsembleCompleted
  | ServerBeltComposed
  | ServerTaskStarted
  | ServerTaskInput
  | ServerTaskCompleted
  | ServerTaskFailed
  | ServerTaskSkipped
  | ServerChoreStarted
  | ServerReflectionStarted
  | ServerLlmIterationStarted
  | ServerLlmIterationCompleted
  | ServerModelRetried
  | ServerModelFailed
  | ServerMetricsSnapshot
  | ServerHistoryDropped
  | ServerOutputRejected
  | ServerAnswerTruncated
  | ServerAnswerEmpty
  | ServerLastRound
  | ServerLoopNoticed
  | ServerFinishDemanded
  | ServerCallCharged
  | ServerToolDispatched
  | ServerToolCalled
  | ServerFileChanged
  | ServerSubtaskStarted
  | ServerDelegationStarted
  | ServerDelegationCompleted
  | ServerDelegationFailed
  | ServerReviewRequested
  | ServerReviewDecided
  | ServerReviewTimedOut
  | ServerReviewClosed
  | ServerDirectiveActive
  | ServerDirectiveDelivered
  | ServerModelSwitched
  | ServerCancelRequested
  | ServerRunPaused
  | ServerRunResumed
  | ServerBudgetExceeded
  | ServerMessage
  | ServerChunk
  | ServerTurnAdopted
  | ServerTurnStarted
  | ServerLlmStarted
  | ServerLlmCompleted
  | ServerLlmVoided
  | ServerToolCallUpdate
  | ServerToolCall
  | ServerToolApprovalRequest
  | ServerToolApprovalResolved
  | ServerPermissionModeChanged
  | ServerTurnStopped
  | ServerCostSummary
  | ServerPlanningUpdate
  | ServerTaskUpdate
  | ServerChatAck
  | ServerChatStopped
  | ServerChatResumed
  | ServerChatTurns
  | ServerPermissionMode
  | ServerToolApprovalAck
  | ServerUiManifestAck
  | ServerTaskAccepted
  | ServerTaskProgress
  | ServerTaskResponse
  | ServerToolResponse
  | ServerCapacityUpdate
  | ServerTaskRequest
  | ServerToolRequest
  | ServerRequestCancel;

export type ClientFrame =
  | ClientPing
  | ClientAuth
  | ClientSubscribe
  | ClientRunRequest
  | ClientRunControl
  | ClientReviewDecision
  | ClientDirective
  | ClientStateQuery
  | ClientCapabilityQuery
  | ClientChatMessage
  | ClientChatStop
  | ClientChatContinue
  | ClientChatSubscribe
  | ClientChatTurns
  | ClientSetPermissionMode
  | ClientToolApprovalResponse
  | ClientUiManifest
  | ClientToolResult
  | ClientPeerHello
  | ClientTaskAccepted
  | ClientTaskProgress
  | ClientTaskResponse
  | ClientToolResponse
  | ClientCapacityUpdate
  | ClientTaskRequest
  | ClientToolRequest
  | ClientRequestCancel;

/** A frame of the server. */
export interface Typed {
  type: string;
}

/** What every stored frame of a run says. */
export interface RunEvent {
  runId: string;
  /** The event's number in its run. */
  seq: number;
  /** It was copied from the run that this one goes on from: its time and its counts are that run's. Absent on what the run did itself. */
  inherited?: true;
  at: string;
}

/** What every stored frame of a chat says. */
export interface ChatEvent {
  thread_id: string;
  turn_id: string;
  /** The frame's number in its thread. */
  chat_seq: number;
  at: string;
}

/** A stored frame: of a run, or of a turn of a chat. */
export type Event = RunEvent | ChatEvent;

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

/** The first frame: where everything stands. */
export interface ServerHello {
  type: 'hello';
  ensemble: string;
  realm: string | null;
  version: string;
  sharedCapabilities: Capability[];
  leaseMs: number;
  /** Bytes of one frame that is read here. */
  maxFrameBytes: number;
  /** Frames of the newest runs, in the order of their events. */
  snapshotTrace: Typed[];
  /** The newest model calls. */
  recentIterations: {
    started: Typed;
    completed?: Typed;
  }[];
  ensembleId?: string;
  startedAt?: string;
  /** Whether something was left out. */
  truncated?: boolean;
}

/** The server is there. */
export interface ServerHeartbeat {
  type: 'heartbeat';
  serverTimeMs: number;
}

/** The answer to `ping`. */
export interface ServerPong {
  type: 'pong';
  /** From the request. */
  requestId?: string | number;
}

/** The key holds. */
export interface ServerAuthAck {
  type: 'auth_ack';
  name: string;
  /** From the request. */
  requestId?: string | number;
}

/** What will be shown. */
export interface ServerSubscribeAck {
  type: 'subscribe_ack';
  events: string[];
  /** From the request. */
  requestId?: string | number;
  runId?: string;
}

export type ServerError =
  | {
    type: 'error';
    code: string;
    message: string;
    /** From the request. */
    requestId?: string | number;
    /** From the request. */
    request_id?: string | number;
    runId?: string;
    thread_id?: string;
    turn_id?: string;
    /** When to try again. */
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
      place: string;
      message: string;
    }[];
  }
  | ChatEvent & {
    type: 'error';
    code: string;
    message: string;
    /** The status of the provider's answer, when that was the trouble. */
    status_code?: number;
  };

/** What became of `run_request`. */
export interface ServerRunAck {
  type: 'run_ack';
  status: 'ACCEPTED' | 'REJECTED';
  tasks: number;
  /** From the request. */
  requestId?: string | number;
  runId?: string;
  workflow?: 'SEQUENTIAL' | 'PARALLEL' | 'HIERARCHICAL';
  warnings?: string[];
  dryRun?: boolean;
  resolvedTasks?: Record<string, unknown>[];
  error?: string;
  message?: string;
  retryAfterMs?: number;
  mistakes?: Record<string, unknown>[];
}

/** What became of `run_control`. */
export interface ServerRunControlAck {
  type: 'run_control_ack';
  runId: string;
  action: string;
  status:
    | 'CANCELLING'
    | 'PAUSED'
    | 'RESUMED'
    | 'APPLIED'
    | 'NOT_FOUND'
    | 'REJECTED'
    | 'INVALID_MODEL'
    | 'INVALID_ACTION'
    | 'NOT_CONFIGURED';
  /** From the request. */
  requestId?: string | number;
  model?: string;
  previousModel?: string;
}

/** The answer to `state_query`, as over HTTP. */
export interface ServerStateResponse {
  type: 'state_response';
  data: Record<string, unknown>;
  /** From the request. */
  requestId?: string | number;
}

/** The decision holds. */
export interface ServerReviewDecisionAck {
  type: 'review_decision_ack';
  reviewId: string;
  decision: string;
  status: 'APPLIED';
  /** From the request. */
  requestId?: string | number;
}

/** What became of `directive`. */
export interface ServerDirectiveAck {
  type: 'directive_ack';
  directiveId: string | null;
  status: 'accepted' | 'REJECTED';
  /** From the request. */
  requestId?: string | number;
  error?: string;
  message?: string;
}

/** What is shared. */
export interface ServerCapabilityResponse {
  type: 'capability_response';
  capabilities: Capability[];
  /** From the request. */
  requestId?: string | number;
  ensemble?: string;
}

/** What came of a run; it follows the last event. */
export interface ServerRunResult {
  type: 'run_result';
  runId: string;
  status: 'ACCEPTED' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'REJECTED';
  outputs: {
    taskName: string;
    output: string;
    /** The output as data, when the task has a schema. */
    parsedOutput?: unknown;
    durationMs: number;
    /** The task ended in the run that this one goes on from. */
    inherited?: true;
    /** The output was cut at the output limit. */
    truncated?: boolean;
  }[];
  /** What came out of the run: the last of `outputs`, in a hierarchy the manager's answer; null unless it completed. */
  output: string | null;
  /** `output` as data, when its task has a schema. */
  parsedOutput?: unknown;
  durationMs: number;
  metrics: {
    totalTokens: number;
    totalToolCalls: number;
    /** Money, in dollars. */
    costEstimate?: {
      inputCost: number;
      outputCost: number;
    };
    unpriced?: string[];
  };
  error?: string;
}

/** Words of a model as they come; not stored. */
export interface ServerToken {
  type: 'token';
  runId: string;
  /** From 1 on. */
  taskIndex: number;
  agentRole: string;
  taskDescription: string;
  turnId: string;
  token: string;
  sentAt: string;
}

/** How far a call is that somebody else does, in a run or in a chat; not stored. */
export type ServerToolProgress = {
  type: 'tool_progress';
  status?: string;
  message?: string;
  percentComplete?: number;
} & (
  | {
    runId: string;
    /** From 1 on. */
    taskIndex: number;
    agentRole: string;
    taskDescription: string;
    turnId: string;
    callId: string;
    toolName: string;
    sentAt: string;
  }
  | {
    thread_id: string;
    turn_id: string;
    /** The subtask it belongs to. */
    parent_id: string | null;
    depth: number;
    tool_call_id: string;
    name: string;
    /** The event it follows. */
    chat_seq: number;
  });

/** A run was submitted. */
export type ServerRunAccepted = RunEvent & {
  type: 'run_accepted';
  ensemble: string;
  workflow: 'SEQUENTIAL' | 'PARALLEL' | 'HIERARCHICAL';
  totalTasks: number;
  tasks: {
    taskIndex: number;
    name: string;
    agentRole: string;
    context: number[];
  }[];
};

/** A run has an owner. */
export type ServerRunAdopted = RunEvent & {
  type: 'run_adopted';
  epoch: number;
};

/** A run begins with the record of another. */
export type ServerRunForked = RunEvent & {
  type: 'run_forked';
  retryOf?: string;
  forkedFrom?: {
    runId: string;
    seq: number;
  };
};

/** A run begins. */
export type ServerEnsembleStarted = RunEvent & {
  type: 'ensemble_started';
  ensembleId: string;
  startedAt: string;
  totalTasks: number;
  workflow: 'SEQUENTIAL' | 'PARALLEL' | 'HIERARCHICAL';
};

/** A run has ended. */
export type ServerEnsembleCompleted = RunEvent & {
  type: 'ensemble_completed';
  ensembleId: string;
  completedAt: string;
  durationMs: number;
  exitReason: 'COMPLETED' | 'USER_EXIT_EARLY' | 'TIMEOUT' | 'ERROR' | 'CANCELLED';
  totalTokens: number;
  totalToolCalls: number;
  error?: string;
};

/** Which tools a task has. */
export type ServerBeltComposed = Event & {
  type: 'belt_composed';
  /** From 1 on. */
  taskIndex: number;
  agentRole: string;
  taskDescription: string;
  turnId: string;
  toolNames: string[];
  taskName?: string | null;
};

/** A task begins. */
export type ServerTaskStarted = Event & {
  type: 'task_started';
  /** From 1 on. */
  taskIndex: number;
  agentRole: string;
  taskDescription: string;
  turnId: string;
  totalTasks: number;
  startedAt: string;
  taskName?: string | null;
};

/** What a task is asked. */
export type ServerTaskInput = Event & {
  type: 'task_input';
  /** From 1 on. */
  taskIndex: number;
  agentRole: string;
  taskDescription: string;
  turnId: string;
  expectedOutput: string;
  agentGoal: string;
  agentBackground: string;
  toolNames: string[];
  assembledContext: string;
  sentAt: string;
  taskName?: string | null;
};

/** A task has an output. */
export type ServerTaskCompleted = Event & {
  type: 'task_completed';
  /** From 1 on. */
  taskIndex: number;
  agentRole: string;
  taskDescription: string;
  turnId: string;
  totalTasks: number;
  completedAt: string;
  durationMs: number;
  tokenCount: number;
  toolCallCount: number;
  taskName?: string | null;
  output?: string | null;
  parsedOutput?: unknown;
  /** The output was cut at the output limit and is taken all the same. */
  truncated?: boolean | null;
};

/** A task gave up, or was stopped. */
export type ServerTaskFailed = Event & {
  type: 'task_failed';
  /** From 1 on. */
  taskIndex: number;
  agentRole: string;
  taskDescription: string;
  turnId: string;
  failedAt: string;
  reason: string;
  taskName?: string | null;
  cancelled?: boolean | null;
  /** What was said of an answer that was cut. */
  partialOutput?: string | null;
};

/** A task will not be done. */
export type ServerTaskSkipped = Event & {
  type: 'task_skipped';
  /** From 1 on. */
  taskIndex: number;
  agentRole: string;
  taskDescription: string;
  turnId: string;
  reason: string;
  taskName?: string | null;
};

/** Work of the run's own begins. */
export type ServerChoreStarted = Event & {
  type: 'chore_started';
  /** From 1 on. */
  taskIndex: number;
  agentRole: string;
  taskDescription: string;
  turnId: string;
  chore: 'recall' | 'guard_input' | 'handle' | 'guard_output' | 'remember';
  toolNames: string[];
  taskName?: string | null;
};

/** An agent looks back at its task. */
export type ServerReflectionStarted = Event & {
  type: 'reflection_started';
  /** From 1 on. */
  taskIndex: number;
  agentRole: string;
  taskDescription: string;
  turnId: string;
  taskName?: string | null;
};

/** A model is asked. */
export type ServerLlmIterationStarted = Event & {
  type: 'llm_iteration_started';
  /** From 1 on. */
  taskIndex: number;
  agentRole: string;
  taskDescription: string;
  turnId: string;
  iterationIndex: number;
  model: string;
  /** The newest of the conversation. */
  messages: {
    role: 'system' | 'user' | 'assistant' | 'tool';
    content: string | null;
    toolCalls: {
      name: string;
      arguments: unknown;
    }[] | null;
    toolName: string | null;
  }[];
  totalMessageCount: number;
};

/** A model has answered. */
export type ServerLlmIterationCompleted = Event & {
  type: 'llm_iteration_completed';
  /** From 1 on. */
  taskIndex: number;
  agentRole: string;
  taskDescription: string;
  turnId: string;
  responseType: 'FINAL_ANSWER' | 'TOOL_CALLS';
  inputTokens: number;
  outputTokens: number;
  latencyMs: number;
  iterationIndex?: number | null;
  responseText?: string | null;
  toolRequests?: {
    name: string;
    arguments: unknown;
  }[] | null;
  /** The reply ended at the output limit. */
  truncated?: boolean | null;
};

/** A model is asked the same again. */
export type ServerModelRetried = Event & {
  type: 'model_retried';
  /** From 1 on. */
  taskIndex: number;
  agentRole: string;
  taskDescription: string;
  turnId: string;
  attempt: number;
  iterationIndex?: number | null;
  model?: string | null;
};

/** A model did not answer. */
export type ServerModelFailed = Event & {
  type: 'model_failed';
  /** From 1 on. */
  taskIndex: number;
  agentRole: string;
  taskDescription: string;
  turnId: string;
  error: string;
  message: string;
  then:
    | {
      action: 'retry';
      at: string;
    }
    | {
      action: 'fallback';
      model: string;
    }
    | {
      action: 'shorten' | 'give_up';
    };
  iterationIndex?: number | null;
  model?: string | null;
};

/** What a task has used so far. */
export type ServerMetricsSnapshot = Event & {
  type: 'metrics_snapshot';
  /** From 1 on. */
  taskIndex: number;
  agentRole: string;
  taskDescription: string;
  turnId: string;
  inputTokens: number;
  outputTokens: number;
  llmLatencyMs: number;
  toolExecutionTimeMs: number;
  iterationCount: number;
  costEstimate?: string | null;
};

/** Old messages did not fit any more. */
export type ServerHistoryDropped = Event & {
  type: 'history_dropped';
  /** From 1 on. */
  taskIndex: number;
  agentRole: string;
  taskDescription: string;
  turnId: string;
  exchanges: number;
  iterationIndex?: number | null;
  model?: string | null;
};

/** An output does not fit its schema. */
export type ServerOutputRejected = Event & {
  type: 'output_rejected';
  /** From 1 on. */
  taskIndex: number;
  agentRole: string;
  taskDescription: string;
  turnId: string;
  violations: string[];
  iterationIndex?: number | null;
  model?: string | null;
};

/** A reply ended at the output limit: it is no answer. */
export type ServerAnswerTruncated = Event & {
  type: 'answer_truncated';
  /** continue: the model is asked to go on. fail: the task fails with OUTPUT_TRUNCATED. accept: the answer is taken as it is. */
  then: 'continue' | 'fail' | 'accept';
  /** The how-manieth continuation follows; in runs. */
  continuation?: number | null;
  /** It was cut inside a tool call: nothing of it is done, and the model is asked again; in runs. */
  inCall?: boolean | null;
  /** The same in chats. */
  in_call?: boolean;
  /** From 1 on; in runs. */
  taskIndex?: number;
  /** In runs. */
  agentRole?: string;
  /** In runs. */
  taskDescription?: string;
  /** In runs. */
  turnId?: string;
  /** The reply it is about; in runs. */
  iterationIndex?: number | null;
  /** In runs. */
  model?: string | null;
  /** The subtask it belongs to; in chats. */
  parent_id?: string | null;
  /** In chats. */
  depth?: number;
  /** The model call it is about; in chats. */
  call_id?: string;
};

/** A reply has neither text nor calls: it is no answer. */
export type ServerAnswerEmpty = Event & {
  type: 'answer_empty';
  /** continue: the model is asked again. fail: the task fails with EMPTY_ANSWER. */
  then: 'continue' | 'fail';
  /** From 1 on; in runs. */
  taskIndex?: number;
  /** In runs. */
  agentRole?: string;
  /** In runs. */
  taskDescription?: string;
  /** In runs. */
  turnId?: string;
  /** The reply it is about; in runs. */
  iterationIndex?: number | null;
  /** In runs. */
  model?: string | null;
  /** The subtask it belongs to; in chats. */
  parent_id?: string | null;
  /** In chats. */
  depth?: number;
  /** The model call it is about; in chats. */
  call_id?: string;
};

/** The next model call is the last. */
export type ServerLastRound = Event & {
  type: 'last_round';
  /** From 1 on. */
  taskIndex: number;
  agentRole: string;
  taskDescription: string;
  turnId: string;
  iterationIndex?: number | null;
  model?: string | null;
};

/** A model calls the same again and again. */
export type ServerLoopNoticed = Event & {
  type: 'loop_noticed';
  /** From 1 on. */
  taskIndex: number;
  agentRole: string;
  taskDescription: string;
  turnId: string;
  toolName: string;
  times: number;
  iterationIndex?: number | null;
  model?: string | null;
};

/** A subtask is told to finish. */
export type ServerFinishDemanded = Event & {
  type: 'finish_demanded';
  /** From 1 on. */
  taskIndex: number;
  agentRole: string;
  taskDescription: string;
  turnId: string;
  iterationIndex?: number | null;
  model?: string | null;
};

/** What a call used elsewhere. */
export type ServerCallCharged = Event & {
  type: 'call_charged';
  /** From 1 on. */
  taskIndex: number;
  agentRole: string;
  taskDescription: string;
  turnId: string;
  callId: string;
  tokens: number;
  cost: number;
};

/** A tool is called. */
export type ServerToolDispatched = Event & {
  type: 'tool_dispatched';
  /** From 1 on. */
  taskIndex: number;
  agentRole: string;
  taskDescription: string;
  turnId: string;
  callId: string;
  toolName: string;
  toolArguments: string;
};

/** A tool has answered. */
export type ServerToolCalled = RunEvent & {
  type: 'tool_called';
  /** From 1 on. */
  taskIndex: number;
  agentRole: string;
  taskDescription: string;
  turnId: string;
  callId: string;
  toolName: string;
  durationMs: number;
  outcome: 'SUCCESS' | 'FAILURE';
  toolArguments: string;
  toolResult: string;
  structuredResult?: unknown;
};

/** An agent changed a file. */
export type ServerFileChanged = Event & {
  type: 'file_changed';
  /** From 1 on. */
  taskIndex: number;
  agentRole: string;
  taskDescription: string;
  turnId: string;
  callId: string;
  timestamp: string;
  filePath: string;
  changeType: 'CREATED' | 'MODIFIED' | 'DELETED';
  linesAdded: number;
  linesRemoved: number;
};

/** A subtask begins. */
export type ServerSubtaskStarted = Event & {
  type: 'subtask_started';
  /** From 1 on. */
  taskIndex: number;
  agentRole: string;
  taskDescription: string;
  turnId: string;
  callId: string;
  title: string;
  instructions: string;
  toolNames: string[];
  depth: number;
};

/** An agent hands work to another. */
export type ServerDelegationStarted = Event & {
  type: 'delegation_started';
  delegationId: string;
  workerRole: string;
  taskDescription: string;
  delegatingAgentRole?: string | null;
};

/** It came back. */
export type ServerDelegationCompleted = Event & {
  type: 'delegation_completed';
  delegationId: string;
  workerRole: string;
  durationMs: number;
  delegatingAgentRole?: string | null;
};

/** It did not. */
export type ServerDelegationFailed = Event & {
  type: 'delegation_failed';
  delegationId: string;
  workerRole: string;
  reason: string;
  delegatingAgentRole?: string | null;
};

/** Something waits for a person. */
export type ServerReviewRequested = Event & {
  type: 'review_requested';
  /** From 1 on. */
  taskIndex: number;
  agentRole: string;
  taskDescription: string;
  turnId: string;
  reviewId: string;
  taskOutput: string;
  timing: 'BEFORE_EXECUTION' | 'DURING_EXECUTION' | 'AFTER_EXECUTION';
  /** 0: it waits for ever. */
  timeoutMs: number;
  /** What happens at `expiresAt`; absent when it waits for ever. */
  onTimeout?: 'CONTINUE' | 'EXIT_EARLY' | 'FAIL';
  createdAt: string;
  taskName?: string | null;
  expiresAt?: string | null;
  prompt?: string;
  options?: string[];
};

/** A person has decided. */
export type ServerReviewDecided = Event & {
  type: 'review_decided';
  reviewId: string;
  decision: string;
  by: string;
  revisedOutput?: string | null;
  feedback?: string | null;
};

/** Nobody decided in time. */
export type ServerReviewTimedOut = Event & {
  type: 'review_timed_out';
  reviewId: string;
  action: string;
};

/** A decision is not wanted any more. */
export type ServerReviewClosed = Event & {
  type: 'review_closed';
  reviewId: string;
};

export type ServerDirectiveActive =
  | Event & {
    type: 'directive_active';
    directiveId: string;
    /** The name of the key, where keys are needed. */
    from: string;
    /** In whose name, by the word of `from` alone. */
    onBehalfOf?: string;
    content: string;
    priority: 'LOW' | 'NORMAL' | 'HIGH';
    target?: string | null;
    expiresAt?: string | null;
  }
  | {
    type: 'directive_active';
    directiveId: string;
    /** The name of the key, where keys are needed. */
    from: string;
    /** In whose name, by the word of `from` alone. */
    onBehalfOf?: string;
    action: string;
    value: string;
  };

/** An agent was told. */
export type ServerDirectiveDelivered = Event & {
  type: 'directive_delivered';
  directiveId: string;
  taskIndex: number;
  iterationIndex: number;
};

/** Another model is asked from now on. */
export type ServerModelSwitched = Event & {
  type: 'model_switched';
  model: string | null;
  previousModel: string;
  taskIndex: number;
  iterationIndex: number;
  by: string;
};

/** A run is to stop. */
export type ServerCancelRequested = Event & {
  type: 'cancel_requested';
  mode: 'after_task' | 'after_iteration' | 'now';
  by: string;
};

/** A run begins nothing new. */
export type ServerRunPaused = Event & {
  type: 'run_paused';
  by: string;
};

/** A run goes on. */
export type ServerRunResumed = Event & {
  type: 'run_resumed';
  by: string;
};

/** A limit was reached. */
export type ServerBudgetExceeded = Event & {
  type: 'budget_exceeded';
  reason: 'subtasks' | 'llm_calls' | 'tool_calls' | 'wall_clock' | 'tokens' | 'cost';
  limit: number;
  observed: number;
};

/** A row of the conversation. */
export type ServerMessage = ChatEvent & {
  type: 'message';
  /** The subtask it belongs to. */
  parent_id: string | null;
  depth: number;
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
  /** An answer that was cut at the output limit and can be continued. */
  truncated: boolean;
  /** The id of the row it goes on with, which was cut. */
  continues: string | null;
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
  call_id?: string;
};

export type ServerChunk =
  | {
    type: 'chunk';
    thread_id: string;
    turn_id: string;
    /** The subtask it belongs to. */
    parent_id: string | null;
    depth: number;
    call_id: string;
    content: string;
    /** The frame they follow. */
    chat_seq: number;
    /** Where in the answer they stand, in bytes. */
    offset: number;
  }
  | {
    type: 'chunk';
    thread_id: string;
    turn_id: string;
    /** The subtask it belongs to. */
    parent_id: string | null;
    depth: number;
    call_id: string;
    content: string;
    /** The frame they follow. */
    chat_seq: number;
    thinking: true;
  }
  | ChatEvent & {
    type: 'chunk';
    /** The subtask it belongs to. */
    parent_id: string | null;
    depth: number;
    content: string;
    done: true;
    status: 'COMPLETED' | 'FAILED' | 'CANCELLED';
  };

/** A turn has an owner. */
export type ServerTurnAdopted = ChatEvent & {
  type: 'turn_adopted';
  epoch: number;
};

/** A turn begins. */
export type ServerTurnStarted = ChatEvent & {
  type: 'turn_started';
  model: string;
  permission_mode: 'plan' | 'default' | 'auto';
};

/** A model is asked. */
export type ServerLlmStarted = ChatEvent & {
  type: 'llm_started';
  /** The subtask it belongs to. */
  parent_id: string | null;
  depth: number;
  call_id: string;
  model: string;
  iteration: number;
};

/** A model has answered. */
export type ServerLlmCompleted = ChatEvent & {
  type: 'llm_completed';
  /** The subtask it belongs to. */
  parent_id: string | null;
  depth: number;
  call_id: string;
  content: string;
};

/** A model did not answer: what it said does not count. */
export type ServerLlmVoided = ChatEvent & {
  type: 'llm_voided';
  /** The subtask it belongs to. */
  parent_id: string | null;
  depth: number;
  call_id: string;
  message: string;
  then: 'retry' | 'fallback' | 'shorten' | 'give_up';
};

/** A tool is called, or has answered. */
export type ServerToolCallUpdate = ChatEvent & {
  type: 'tool_call_update';
  /** The subtask it belongs to. */
  parent_id: string | null;
  depth: number;
  tool_call_id: string;
  name: string;
} & (
  | {
    status: 'start';
    args: unknown;
    /** What a subtask is called. */
    message?: string | null;
  }
  | {
    status: 'end';
    result: string;
    is_error: boolean;
    duration_ms: number;
    /** The workflow that was built. */
    data?: Record<string, unknown> | null;
  });

/** A call for the client to carry out. */
export type ServerToolCall = ChatEvent & {
  type: 'tool_call';
  /** The subtask it belongs to. */
  parent_id: string | null;
  depth: number;
  tool_call_id: string;
  name: string;
  args: unknown;
  expires_at: string;
};

/** A call waits for a person. */
export type ServerToolApprovalRequest = ChatEvent & {
  type: 'tool_approval_request';
  /** The subtask it belongs to. */
  parent_id: string | null;
  depth: number;
  approval_id: string;
  tool_call_id: string;
  tool_name: string;
  category: string;
  args: unknown;
  message: string;
  created_at: string;
  expires_at: string | null;
};

/** A person has answered. */
export type ServerToolApprovalResolved = ChatEvent & {
  type: 'tool_approval_resolved';
  approval_id: string;
  decision: string;
  by: string;
};

/** What may be done without asking. */
export type ServerPermissionModeChanged = ChatEvent & {
  type: 'permission_mode_changed';
  permission_mode: 'plan' | 'default' | 'auto';
  by: string;
};

/** A turn was stopped. */
export type ServerTurnStopped = ChatEvent & {
  type: 'turn_stopped';
};

/** What a turn used. */
export type ServerCostSummary = ChatEvent & {
  type: 'cost_summary';
  total_usd: number | null;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  llm_calls: number;
  tool_calls: number;
  subtasks: number;
  wall_ms: number;
  by_model: {
    model: string;
    llm_calls: number;
    input_tokens: number;
    output_tokens: number;
    cached_tokens: number;
    total_usd: number | null;
  }[];
  unpriced_models: string[];
};

/** A workflow is being drawn. */
export type ServerPlanningUpdate = ChatEvent & {
  type: 'planning_update';
  /** The subtask it belongs to. */
  parent_id: string | null;
  depth: number;
  phase: 'planning' | 'validation';
  status: 'start' | 'end' | 'failed';
  content: string;
};

/** A task of a workflow was planned, begun or ended. */
export type ServerTaskUpdate = ChatEvent & {
  type: 'task_update';
  /** The subtask it belongs to. */
  parent_id: string | null;
  depth: number;
  event: 'planned' | 'started' | 'completed' | 'skipped' | 'failed';
  task: {
    name?: string | null;
    description?: string | null;
    tools?: string[] | null;
    context?: string[] | null;
    output?: string | null;
    reason?: string;
  };
};

/** A message was taken. */
export interface ServerChatAck {
  type: 'chat_ack';
  thread_id: string;
  turn_id: string;
  /** From the request. */
  request_id?: string | number;
  seq?: number;
  queue_position?: number;
}

/** A turn will stop. */
export interface ServerChatStopped {
  type: 'chat_stopped';
  thread_id: string;
  turn_id: string;
  /** From the request. */
  request_id?: string | number;
}

/** What follows are the missed frames. */
export interface ServerChatResumed {
  type: 'chat_resumed';
  thread_id: string;
  status: 'running' | 'finished';
  /** From the request. */
  request_id?: string | number;
  last_seq?: number;
  turn_id?: string;
}

/** The turns that run. */
export interface ServerChatTurns {
  type: 'chat_turns';
  turns: {
    thread_id: string;
    turn_id: string;
    status: 'running';
    last_seq: number | null;
  }[];
}

/** What may be done without asking. */
export interface ServerPermissionMode {
  type: 'permission_mode';
  thread_id: string;
  permission_mode: 'plan' | 'default' | 'auto';
  /** From the request. */
  request_id?: string | number;
}

/** The answer holds. */
export interface ServerToolApprovalAck {
  type: 'tool_approval_ack';
  approval_id: string;
  decision: string;
  status: 'APPLIED';
  /** From the request. */
  request_id?: string | number;
}

/** The tools are known. */
export interface ServerUiManifestAck {
  type: 'ui_manifest_ack';
  tools: string[];
  /** From the request. */
  request_id?: string | number;
}

/** The work is taken on. */
export interface ServerTaskAccepted {
  type: 'task_accepted';
  requestId: string;
  queuePosition?: number;
  /** As in `PT30S`, or seconds. */
  estimatedCompletion?: string | number;
}

/** How far the work is. */
export interface ServerTaskProgress {
  type: 'task_progress';
  requestId: string;
  status?: string;
  message?: string;
  percentComplete?: number;
}

/** What came of a task. */
export interface ServerTaskResponse {
  type: 'task_response';
  requestId: string;
  status: 'COMPLETED' | 'FAILED' | 'REJECTED' | 'IN_PROGRESS';
  result?: string;
  error?: string;
  durationMs?: number;
  unknown?: boolean;
  usage?: Record<string, unknown>;
}

/** What came of a call. */
export interface ServerToolResponse {
  type: 'tool_response';
  requestId: string;
  status: 'COMPLETED' | 'FAILED' | 'REJECTED' | 'IN_PROGRESS';
  result?: string;
  error?: string;
  durationMs?: number;
  unknown?: boolean;
  usage?: Record<string, unknown>;
}

/** How busy an ensemble is. */
export interface ServerCapacityUpdate {
  type: 'capacity_update';
  ensemble: string;
  realm: string | null;
  status: 'available' | 'busy' | 'draining';
  currentLoad: number;
  maxConcurrent: number;
  shareable: boolean;
}

/** Do a shared task. */
export interface ServerTaskRequest {
  type: 'task_request';
  requestId: string;
  from: string;
  task: string;
  ancestors?: string[];
  hops?: number;
  budget?: {
    tokens?: number;
    costNanoUsd?: number;
  };
  resumed?: boolean;
  /** As in `PT30S`, or seconds. */
  deadline?: string | number;
  traceContext?: {
    traceparent: string;
    tracestate?: string;
  };
  context?: string;
  priority?: 'LOW' | 'NORMAL' | 'HIGH' | 'CRITICAL';
  delivery?: {
    method: string;
    address?: string;
  };
  cachePolicy?: 'USE_CACHED' | 'FORCE_FRESH';
  cacheKey?: string;
  /** As in `PT30S`, or seconds. */
  maxAge?: string | number;
}

/** Call a shared tool. */
export interface ServerToolRequest {
  type: 'tool_request';
  requestId: string;
  from: string;
  tool: string;
  ancestors?: string[];
  hops?: number;
  budget?: {
    tokens?: number;
    costNanoUsd?: number;
  };
  resumed?: boolean;
  /** As in `PT30S`, or seconds. */
  deadline?: string | number;
  traceContext?: {
    traceparent: string;
    tracestate?: string;
  };
  input?: unknown;
}

/** The work is not wanted any more. */
export interface ServerRequestCancel {
  type: 'request_cancel';
  requestId: string;
}

/** Are you there? */
export interface ClientPing {
  type: 'ping';
  /** Repeated in the answer. */
  requestId?: string | number | null;
}

/** A key, for those who cannot send a header; a second one, or one beside a header, is refused. */
export interface ClientAuth {
  type: 'auth';
  key: string;
  /** Repeated in the answer. */
  requestId?: string | number | null;
}

/** What is to be shown. */
export interface ClientSubscribe {
  type: 'subscribe';
  /** Repeated in the answer. */
  requestId?: string | number | null;
  events?: string[] | null;
  runId?: string | null;
  from?: number | null;
}

/** Start a run; the fields of `POST /api/runs`. */
export interface ClientRunRequest {
  type: 'run_request';
  /** Repeated in the answer. */
  requestId?: string | number | null;
  inputs?: Record<string, unknown> | null;
  tags?: Record<string, unknown> | null;
  tasks?: Record<string, unknown>[] | null;
  taskOverrides?: Record<string, unknown> | null;
  options?: Record<string, unknown> | null;
  modelOptions?: Record<string, unknown> | null;
  dryRun?: boolean | null;
}

/** Steer a run. */
export interface ClientRunControl {
  type: 'run_control';
  runId: string;
  /** cancel, switch_model, pause or resume. */
  action: string;
  /** Repeated in the answer. */
  requestId?: string | number | null;
  model?: string | null;
  mode?: string | null;
}

/** Decide a review; the fields of `POST /api/reviews/{id}`. */
export interface ClientReviewDecision {
  type: 'review_decision';
  reviewId: string;
  decision: string;
  /** Repeated in the answer. */
  requestId?: string | number | null;
  revisedOutput?: string | null;
  feedback?: string | null;
}

/** Say something to the agents, or choose a tier of models. */
export interface ClientDirective {
  type: 'directive';
  /** Repeated in the answer. */
  requestId?: string | number | null;
  runId?: string | null;
  content?: string | null;
  to?: string | null;
  target?: string | null;
  /** Who says it; where keys are needed the key's name is, and this is `onBehalfOf`. */
  from?: string | null;
  /** In whose name it is said. */
  onBehalfOf?: string | null;
  priority?: string | null;
  ttl?: string | null;
  action?: string | null;
  value?: string | null;
}

/** Ask where things stand. */
export interface ClientStateQuery {
  type: 'state_query';
  /** runs, run_detail or capabilities. */
  query: string;
  /** Repeated in the answer. */
  requestId?: string | number | null;
  runId?: string | null;
  filter?: {
    status?: unknown;
    tag?: unknown;
    limit?: unknown;
    offset?: unknown;
  } | null;
}

/** Who shares what? */
export interface ClientCapabilityQuery {
  type: 'capability_query';
  /** Repeated in the answer. */
  requestId?: string | number | null;
  capabilityName?: string | null;
  toolName?: string | null;
  tag?: string | null;
  capabilityType?: string | null;
}

/** Say something; the fields of `POST /api/threads/{id}/messages`. */
export interface ClientChatMessage {
  type: 'chat_message';
  content: string;
  /** Repeated in the answer. */
  request_id?: string | number | null;
  thread_id?: string | null;
  model?: string | null;
  chat_context?: Record<string, unknown> | string | null;
  workflow_target?: string | null;
  workflow_id?: string | null;
  collections?: string[] | null;
  memory_enabled?: boolean | null;
  permission_mode?: 'plan' | 'default' | 'auto' | null;
  if_busy?: 'interrupt' | 'reject' | 'queue' | null;
}

/** Stop the turn that runs. */
export interface ClientChatStop {
  type: 'chat_stop';
  thread_id: string;
  /** Repeated in the answer. */
  request_id?: string | number | null;
}

/** Go on with the last answer, which was cut. */
export interface ClientChatContinue {
  type: 'chat_continue';
  thread_id: string;
  /** Repeated in the answer. */
  request_id?: string | number | null;
}

/** Follow a thread. */
export interface ClientChatSubscribe {
  type: 'chat_subscribe';
  thread_id: string;
  /** Repeated in the answer. */
  request_id?: string | number | null;
  last_seq?: number | null;
}

/** Which turns run? */
export interface ClientChatTurns {
  type: 'chat_turns';
}

/** What may be done without asking. */
export interface ClientSetPermissionMode {
  type: 'set_permission_mode';
  thread_id: string;
  /** Repeated in the answer. */
  request_id?: string | number | null;
  permission_mode?: string | null;
  mode?: string | null;
}

/** Allow a call, or not. */
export interface ClientToolApprovalResponse {
  type: 'tool_approval_response';
  approval_id: string;
  /** allow, allow_for_chat or deny. */
  decision: string;
  /** Repeated in the answer. */
  request_id?: string | number | null;
}

/** The tools a client offers. */
export interface ClientUiManifest {
  type: 'ui_manifest';
  tools: {
    name: string;
    description?: string | null;
    /** A JSON Schema. */
    parameters?: unknown;
  }[];
  /** Repeated in the answer. */
  request_id?: string | number | null;
}

/** What came of a client's tool. */
export interface ClientToolResult {
  type: 'tool_result';
  tool_call_id: string;
  result: unknown;
  /** Repeated in the answer. */
  request_id?: string | number | null;
  thread_id?: string | null;
  is_error?: boolean | null;
}

/** Another ensemble links. */
export interface ClientPeerHello {
  type: 'peer_hello';
  ensemble: string;
  realm?: string | null;
  version?: string | null;
  sharedCapabilities?: Capability[] | null;
  leaseMs?: number | null;
  /** Bytes of one frame that it takes. */
  maxFrameBytes?: number | null;
}

/** The work is taken on. */
export interface ClientTaskAccepted {
  type: 'task_accepted';
  requestId: string;
  queuePosition?: number;
  /** As in `PT30S`, or seconds. */
  estimatedCompletion?: string | number;
}

/** How far the work is. */
export interface ClientTaskProgress {
  type: 'task_progress';
  requestId: string;
  status?: string;
  message?: string;
  percentComplete?: number;
}

/** What came of a task. */
export interface ClientTaskResponse {
  type: 'task_response';
  requestId: string;
  status: 'COMPLETED' | 'FAILED' | 'REJECTED' | 'IN_PROGRESS';
  result?: string;
  error?: string;
  durationMs?: number;
  unknown?: boolean;
  usage?: Record<string, unknown>;
}

/** What came of a call. */
export interface ClientToolResponse {
  type: 'tool_response';
  requestId: string;
  status: 'COMPLETED' | 'FAILED' | 'REJECTED' | 'IN_PROGRESS';
  result?: string;
  error?: string;
  durationMs?: number;
  unknown?: boolean;
  usage?: Record<string, unknown>;
}

/** How busy an ensemble is. */
export interface ClientCapacityUpdate {
  type: 'capacity_update';
  ensemble: string;
  realm: string | null;
  status: 'available' | 'busy' | 'draining';
  currentLoad: number;
  maxConcurrent: number;
  shareable: boolean;
}

/** Do a shared task. */
export interface ClientTaskRequest {
  type: 'task_request';
  requestId: string;
  from: string;
  task: string;
  ancestors?: string[];
  hops?: number;
  budget?: {
    tokens?: number;
    costNanoUsd?: number;
  };
  resumed?: boolean;
  /** As in `PT30S`, or seconds. */
  deadline?: string | number;
  traceContext?: {
    traceparent: string;
    tracestate?: string;
  };
  context?: string;
  priority?: 'LOW' | 'NORMAL' | 'HIGH' | 'CRITICAL';
  delivery?: {
    method: string;
    address?: string;
  };
  cachePolicy?: 'USE_CACHED' | 'FORCE_FRESH';
  cacheKey?: string;
  /** As in `PT30S`, or seconds. */
  maxAge?: string | number;
}

/** Call a shared tool. */
export interface ClientToolRequest {
  type: 'tool_request';
  requestId: string;
  from: string;
  tool: string;
  ancestors?: string[];
  hops?: number;
  budget?: {
    tokens?: number;
    costNanoUsd?: number;
  };
  resumed?: boolean;
  /** As in `PT30S`, or seconds. */
  deadline?: string | number;
  traceContext?: {
    traceparent: string;
    tracestate?: string;
  };
  input?: unknown;
}

/** The work is not wanted any more. */
export interface ClientRequestCancel {
  type: 'request_cancel';
  requestId: string;
}
