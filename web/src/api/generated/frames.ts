// Made from schemas/frames.json by `npm run types`.

/** A frame of the server. */
export type ServerFrame =
  | ServerRunAccepted
  | ServerRunAdopted
  | ServerRunForked
  | ServerEnsembleStarted
  | ServerBeltComposed
  | ServerTaskStarted
  | ServerTaskInput
  | ServerChoreStarted
  | ServerReflectionStarted
  | ServerLlmIterationStarted
  | ServerModelRetried
  | ServerLlmIterationCompleted
  | ServerAnswerTruncated
  | ServerAnswerEmpty
  | ServerMetricsSnapshot
  | ServerModelFailed
  | ServerHistoryDropped
  | ServerOutputRejected
  | ServerLastRound
  | ServerLoopNoticed
  | ServerCallCharged
  | ServerToolDispatched
  | ServerFinishDemanded
  | ServerSubtaskStarted
  | ServerDelegationStarted
  | ServerDelegationCompleted
  | ServerDelegationFailed
  | ServerToolCalled
  | ServerFileChanged
  | ServerReviewRequested
  | ServerReviewDecided
  | ServerReviewTimedOut
  | ServerReviewClosed
  | ServerTaskCompleted
  | ServerTaskFailed
  | ServerTaskSkipped
  | ServerDirectiveActive
  | ServerDirectiveDelivered
  | ServerModelSwitched
  | ServerCancelRequested
  | ServerRunPaused
  | ServerRunResumed
  | ServerBudgetExceeded
  | ServerEnsembleCompleted
  | ServerTurnAdopted
  | ServerTurnStarted
  | ServerLlmStarted
  | ServerLlmCompleted
  | ServerLlmVoided
  | ServerMessage
  | ServerToolCallUpdate
  | ServerToolCall
  | ServerToolApprovalRequest
  | ServerToolApprovalResolved
  | ServerGrantWithdrawn
  | ServerPermissionModeChanged
  | ServerPlanningUpdate
  | ServerTaskUpdate
  | ServerTurnStopped
  | ServerError
  | ServerChunk
  | ServerCostSummary
  | ServerToken
  | ServerToolProgress
  | ServerRunResult
  | ServerHello
  | ServerHeartbeat
  | ServerPong
  | ServerAuthAck
  | ServerSubscribeAck
  | ServerRunAck
  | ServerRunControlAck
  | ServerStateResponse
  | ServerReviewDecisionAck
  | ServerDirectiveAck
  | ServerCapabilityResponse
  | ServerChatAck
  | ServerChatStopped
  | ServerChatResumed
  | ServerChatTurns
  | ServerPermissionMode
  | ServerToolApprovalAck
  | ServerUiManifestAck
  | ServerTaskRequest
  | ServerToolRequest
  | ServerRequestCancel
  | ServerTaskAccepted
  | ServerTaskProgress
  | ServerTaskResponse
  | ServerToolResponse
  | ServerCapacityUpdate;

/** A frame of a client. */
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
  | ClientChatContinue
  | ClientChatStop
  | ClientChatSubscribe
  | ClientChatTurns
  | ClientSetPermissionMode
  | ClientToolApprovalResponse
  | ClientUiManifest
  | ClientToolResult
  | ClientPeerHello
  | ClientTaskRequest
  | ClientToolRequest
  | ClientRequestCancel
  | ClientTaskAccepted
  | ClientTaskProgress
  | ClientTaskResponse
  | ClientToolResponse
  | ClientCapacityUpdate;

/** The fields that every frame of a run's events has. */
export interface RunEvent {
  /** The run. */
  runId: string;
  /** The event's number in the run, from 0. */
  seq: number;
  /** True when the event was copied from the run that this one goes on from:
  its time and its counts are that run's. Absent on what the run did itself. */
  inherited?: true;
  /** When the event was decided. */
  at: string;
}

/** The fields that every frame of a turn's events has. */
export interface ChatEvent {
  /** The thread. */
  thread_id: string;
  /** The turn. */
  turn_id: string;
  /** The event's number in the thread, from 0. */
  chat_seq: number;
  /** When the event was decided. */
  at: string;
}

/** A stored frame: of a run, or of a turn of a chat. */
export type Event = RunEvent | ChatEvent;

/** The run exists. */
export type ServerRunAccepted = RunEvent & {
  type: 'run_accepted';
  /** The ensemble's name. */
  ensemble: string;
  /** In which order its tasks run. */
  workflow: 'SEQUENTIAL' | 'PARALLEL' | 'HIERARCHICAL';
  /** How many tasks it has. */
  totalTasks: number;
  /** Its tasks, as declared. */
  tasks: {
    /** Its number, from 1. */
    taskIndex: number;
    /** Its name. */
    name: string;
    /** The role of its agent. */
    agentRole: string;
    /** The numbers of the tasks it reads from. */
    context: number[];
  }[];
};

/** A process has taken the run over; calls of the one before are lost. */
export type ServerRunAdopted = RunEvent & {
  type: 'run_adopted';
  /** Counts the processes that had the run, from 1. */
  epoch: number;
};

/** The events before this one were copied from another run. */
export type ServerRunForked = RunEvent & {
  type: 'run_forked';
  /** The run whose completed tasks were kept. */
  retryOf?: string;
  /** The run and the place in it that this one goes on from. */
  forkedFrom?: {
    /** The run. */
    runId: string;
    /** The number of the event. */
    seq: number;
  };
};

/** The first task is about to begin. */
export type ServerEnsembleStarted = RunEvent & {
  type: 'ensemble_started';
  /** The id of this execution. */
  ensembleId: string;
  /** When it started. */
  startedAt: string;
  /** How many tasks it has. */
  totalTasks: number;
  /** In which order its tasks run. */
  workflow: 'SEQUENTIAL' | 'PARALLEL' | 'HIERARCHICAL';
};

/** The tools that a task's patterns stand for were looked up. */
export type ServerBeltComposed = Event & {
  type: 'belt_composed';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** What the agent works on. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`. */
  turnId: string;
  /** The name of the task. */
  taskName?: string;
  /** The tools that were found. */
  toolNames: string[];
};

/** A task has begun. */
export type ServerTaskStarted = Event & {
  type: 'task_started';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** What the agent works on. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`. */
  turnId: string;
  /** The name of the task. */
  taskName?: string;
  /** How many tasks the run has. */
  totalTasks: number;
  /** When it began. */
  startedAt: string;
};

/** What the task's model is told first. */
export type ServerTaskInput = Event & {
  type: 'task_input';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** What the agent works on. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`. */
  turnId: string;
  /** The name of the task. */
  taskName?: string;
  /** The output that is asked for. */
  expectedOutput: string;
  /** The goal of its agent. */
  agentGoal: string;
  /** The background of its agent. */
  agentBackground: string;
  /** The tools it may call. */
  toolNames: string[];
  /** The prompt; a long one is cut. */
  assembledContext: string;
  /** When it was made. */
  sentAt: string;
};

/** The run itself makes calls for a task. */
export type ServerChoreStarted = Event & {
  type: 'chore_started';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** What the agent works on. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`. */
  turnId: string;
  /** The name of the task. */
  taskName?: string;
  /** What the calls are for. */
  chore: 'recall' | 'guard_input' | 'handle' | 'guard_output' | 'remember';
  /** The tools that are called. */
  toolNames: string[];
};

/** The model is asked what could be better next time. */
export type ServerReflectionStarted = Event & {
  type: 'reflection_started';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** What the agent works on. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`. */
  turnId: string;
  /** The name of the task. */
  taskName?: string;
};

/** A model is asked. */
export type ServerLlmIterationStarted = Event & {
  type: 'llm_iteration_started';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** What the agent works on. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`. */
  turnId: string;
  /** The round of the conversation, from 0. */
  iterationIndex: number;
  /** The alias of the model. */
  model: string;
  /** The newest messages it is sent. */
  messages: {
    /** Who says it. */
    role: 'system' | 'user' | 'assistant' | 'tool';
    /** What is said. */
    content: string | null;
    /** The calls it asks for. */
    toolCalls:
      | {
        /** The tool. */
        name: string;
        /** The arguments, as the model wrote them. */
        arguments: string;
      }[]
      | null;
    /** The tool that answers. */
    toolName: string | null;
  }[];
  /** How many messages it is sent. */
  totalMessageCount: number;
};

/** The same question is asked once more. */
export type ServerModelRetried = Event & {
  type: 'model_retried';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** What the agent works on. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`. */
  turnId: string;
  /** The round of the conversation, from 0. */
  iterationIndex?: number;
  /** The alias of the model. */
  model?: string;
  /** Which attempt this is, from 1. */
  attempt: number;
};

/** A model has answered. */
export type ServerLlmIterationCompleted = Event & {
  type: 'llm_iteration_completed';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** What the agent works on. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`. */
  turnId: string;
  /** The round of the conversation, from 0. */
  iterationIndex?: number;
  /** Whether it answers or wants tools called. */
  responseType: 'FINAL_ANSWER' | 'TOOL_CALLS';
  /** What it said. */
  responseText?: string;
  /** The calls it wants made. */
  toolRequests?: {
    /** The tool. */
    name: string;
    /** The arguments, as the model wrote them. */
    arguments: string;
  }[];
  /** True when the reply ended at the output limit. */
  truncated?: boolean;
  /** Tokens it read. */
  inputTokens: number;
  /** Tokens it wrote. */
  outputTokens: number;
  /** How long it took. */
  latencyMs: number;
};

export type ServerAnswerTruncated =
  | RunEvent & {
    type: 'answer_truncated';
    /** The number of the task, from 1. */
    taskIndex: number;
    /** The role of the agent. */
    agentRole: string;
    /** What the agent works on. */
    taskDescription: string;
    /** The place of the task or subtask in the run, such as `2` or `2.0.1`. */
    turnId: string;
    /** The round of the conversation, from 0. */
    iterationIndex?: number;
    /** The alias of the model. */
    model?: string;
    /** The step that follows. */
    then: 'continue' | 'fail' | 'accept';
    /** True when it ended within a call, which is not made. */
    inCall?: boolean;
    /** The number of the continuation that follows, from 1. */
    continuation?: number;
  }
  | ChatEvent & {
    type: 'answer_truncated';
    /** The call that the subtask is; null for the conversation itself. */
    parent_id: string | null;
    /** How deep the subtask is nested. */
    depth: number;
    /** The model call. */
    call_id: string;
    /** The step that follows. */
    then: 'continue' | 'fail' | 'accept';
    /** Whether it ended within a call, which is not made. */
    in_call: boolean;
  };

export type ServerAnswerEmpty =
  | RunEvent & {
    type: 'answer_empty';
    /** The number of the task, from 1. */
    taskIndex: number;
    /** The role of the agent. */
    agentRole: string;
    /** What the agent works on. */
    taskDescription: string;
    /** The place of the task or subtask in the run, such as `2` or `2.0.1`. */
    turnId: string;
    /** The round of the conversation, from 0. */
    iterationIndex?: number;
    /** The alias of the model. */
    model?: string;
    /** The step that follows. */
    then: 'continue' | 'fail' | 'accept';
  }
  | ChatEvent & {
    type: 'answer_empty';
    /** The call that the subtask is; null for the conversation itself. */
    parent_id: string | null;
    /** How deep the subtask is nested. */
    depth: number;
    /** The model call. */
    call_id: string;
    /** The step that follows. */
    then: 'continue' | 'fail' | 'accept';
  };

/** What a task has used so far. */
export type ServerMetricsSnapshot = Event & {
  type: 'metrics_snapshot';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** What the agent works on. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`. */
  turnId: string;
  /** Tokens read; -1 when unknown. */
  inputTokens: number;
  /** Tokens written; -1 when unknown. */
  outputTokens: number;
  /** Time spent waiting for models. */
  llmLatencyMs: number;
  /** Time spent in tools. */
  toolExecutionTimeMs: number;
  /** Model calls. */
  iterationCount: number;
  /** US dollars, when the model has a price. */
  costEstimate?: string;
};

/** A model did not answer. */
export type ServerModelFailed = Event & {
  type: 'model_failed';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** What the agent works on. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`. */
  turnId: string;
  /** The round of the conversation, from 0. */
  iterationIndex?: number;
  /** The alias of the model. */
  model?: string;
  /** The kind of failure. */
  error:
    | 'rate_limited'
    | 'overloaded'
    | 'timeout'
    | 'network'
    | 'malformed'
    | 'overflow'
    | 'unauthorized'
    | 'refused'
    | 'dropped';
  /** What went wrong. */
  message: string;
  /** What follows. */
  then:
    | {
      action: 'retry';
      /** When. */
      at: string;
    }
    | {
      action: 'fallback';
      /** Its alias. */
      model: string;
    }
    | {
      action: 'shorten';
    }
    | {
      action: 'give_up';
    };
};

/** The oldest exchanges are not sent any more, because they do not fit. */
export type ServerHistoryDropped = Event & {
  type: 'history_dropped';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** What the agent works on. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`. */
  turnId: string;
  /** The round of the conversation, from 0. */
  iterationIndex?: number;
  /** The alias of the model. */
  model?: string;
  /** How many exchanges were dropped. */
  exchanges: number;
};

/** The output breaks its schema and is sent back. */
export type ServerOutputRejected = Event & {
  type: 'output_rejected';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** What the agent works on. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`. */
  turnId: string;
  /** The round of the conversation, from 0. */
  iterationIndex?: number;
  /** The alias of the model. */
  model?: string;
  /** Everything that is wrong with it. */
  violations: string[];
};

/** The last permitted round: no tools are offered. */
export type ServerLastRound = Event & {
  type: 'last_round';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** What the agent works on. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`. */
  turnId: string;
  /** The round of the conversation, from 0. */
  iterationIndex?: number;
  /** The alias of the model. */
  model?: string;
};

/** The model has made the same failing call again and again, and is told so. */
export type ServerLoopNoticed = Event & {
  type: 'loop_noticed';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** What the agent works on. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`. */
  turnId: string;
  /** The round of the conversation, from 0. */
  iterationIndex?: number;
  /** The alias of the model. */
  model?: string;
  /** The tool it called. */
  toolName: string;
  /** How often. */
  times: number;
};

/** Another ensemble has charged for a call. */
export type ServerCallCharged = Event & {
  type: 'call_charged';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** What the agent works on. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`. */
  turnId: string;
  /** The call. */
  callId: string;
  /** Tokens it used. */
  tokens: number;
  /** US dollars it cost. */
  cost: number;
};

/** A tool is about to be called. */
export type ServerToolDispatched = Event & {
  type: 'tool_dispatched';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** What the agent works on. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`. */
  turnId: string;
  /** The call. */
  callId: string;
  /** The tool. */
  toolName: string;
  /** The arguments, as the model wrote them. */
  toolArguments: string;
};

/** A subtask that owes a structured result answered in prose, and is reminded. */
export type ServerFinishDemanded = Event & {
  type: 'finish_demanded';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** What the agent works on. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`. */
  turnId: string;
  /** The round of the conversation, from 0. */
  iterationIndex?: number;
  /** The alias of the model. */
  model?: string;
};

/** A call became a subtask. */
export type ServerSubtaskStarted = Event & {
  type: 'subtask_started';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** What the agent works on. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`. */
  turnId: string;
  /** The call, and from now on the subtask. */
  callId: string;
  /** Its title. */
  title: string;
  /** What it is told to do. */
  instructions: string;
  /** The tools it may call. */
  toolNames: string[];
  /** How deep it is nested, from 1. */
  depth: number;
};

/** An agent was handed work. */
export type ServerDelegationStarted = Event & {
  type: 'delegation_started';
  /** The call that handed it over. */
  delegationId: string;
  /** The role of the agent that handed it over. */
  delegatingAgentRole?: string;
  /** The role of the agent that does it. */
  workerRole: string;
  /** The work. */
  taskDescription: string;
};

/** That agent has done it. */
export type ServerDelegationCompleted = Event & {
  type: 'delegation_completed';
  /** The call that handed it over. */
  delegationId: string;
  /** The role of the agent that handed it over. */
  delegatingAgentRole?: string;
  /** The role of the agent that does it. */
  workerRole: string;
  /** How long it took. */
  durationMs: number;
};

/** That agent has failed, or could not be handed anything. */
export type ServerDelegationFailed = Event & {
  type: 'delegation_failed';
  /** The call that handed it over. */
  delegationId: string;
  /** The role of the agent that handed it over. */
  delegatingAgentRole?: string;
  /** The role of the agent that does it. */
  workerRole: string;
  /** Why. */
  reason: string;
};

/** A call has returned. */
export type ServerToolCalled = RunEvent & {
  type: 'tool_called';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** What the agent works on. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`. */
  turnId: string;
  /** The call. */
  callId: string;
  /** The tool. */
  toolName: string;
  /** How long it took. */
  durationMs: number;
  /** Whether it worked. */
  outcome: 'SUCCESS' | 'FAILURE';
  /** The arguments, as the model wrote them. */
  toolArguments: string;
  /** The result in words. */
  toolResult: string;
  /** The result as data, where the tool has one. */
  structuredResult: unknown;
};

/** A call has changed a file. */
export type ServerFileChanged = Event & {
  type: 'file_changed';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** What the agent works on. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`. */
  turnId: string;
  /** The file, as the tool names it. */
  filePath: string;
  /** What happened to it. */
  changeType: 'CREATED' | 'MODIFIED' | 'DELETED';
  /** Lines it has now and did not have. */
  linesAdded: number;
  /** Lines it had and does not have now. */
  linesRemoved: number;
  /** The call. */
  callId: string;
  /** When. */
  timestamp: string;
};

/** Something waits for a person. */
export type ServerReviewRequested = Event & {
  type: 'review_requested';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** What the agent works on. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`. */
  turnId: string;
  /** The name of the task. */
  taskName?: string;
  /** The id to decide it by. */
  reviewId: string;
  /** The output that is reviewed; empty before the task. */
  taskOutput: string;
  /** Before, while or after the task is done. */
  timing: 'BEFORE_EXECUTION' | 'DURING_EXECUTION' | 'AFTER_EXECUTION';
  /** How long it waits; 0 for ever. */
  timeoutMs: number;
  /** What follows when nobody decides in time. */
  onTimeout?: 'CONTINUE' | 'EXIT_EARLY' | 'FAIL';
  /** When it was asked for. */
  createdAt: string;
  /** When it stops waiting. */
  expiresAt?: string;
  /** The question of an agent. */
  prompt?: string;
  /** The answers to choose from. */
  options?: string[];
};

/** A person has decided. */
export type ServerReviewDecided = Event & {
  type: 'review_decided';
  /** The review. */
  reviewId: string;
  /** The decision. */
  decision: 'CONTINUE' | 'EDIT' | 'EXIT_EARLY' | 'REJECT';
  /** Who decided. */
  by: string;
  /** The output that counts instead. */
  revisedOutput?: string;
  /** What should be better. */
  feedback?: string;
};

/** Nobody decided in time. */
export type ServerReviewTimedOut = Event & {
  type: 'review_timed_out';
  /** The review. */
  reviewId: string;
  /** What follows. */
  action: 'CONTINUE' | 'EXIT_EARLY' | 'FAIL';
};

/** There is nothing to decide any more. */
export type ServerReviewClosed = Event & {
  type: 'review_closed';
  /** The review. */
  reviewId: string;
};

/** A task has its output. */
export type ServerTaskCompleted = Event & {
  type: 'task_completed';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** What the agent works on. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`. */
  turnId: string;
  /** The name of the task. */
  taskName?: string;
  /** How many tasks the run has. */
  totalTasks: number;
  /** When it was done. */
  completedAt: string;
  /** How long it took. */
  durationMs: number;
  /** Tokens it used; -1 when unknown. */
  tokenCount: number;
  /** Tool calls it made. */
  toolCallCount: number;
  /** The output. */
  output?: string;
  /** The output as data, where the task has a schema. */
  parsedOutput?: unknown;
  /** True when the output was cut at the output limit and is taken as it is. */
  truncated?: boolean | null;
};

/** A task has failed or was stopped. */
export type ServerTaskFailed = Event & {
  type: 'task_failed';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** What the agent works on. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`. */
  turnId: string;
  /** The name of the task. */
  taskName?: string;
  /** When. */
  failedAt: string;
  /** Why. */
  reason: string;
  /** True when it was stopped. */
  cancelled?: boolean;
  /** The words of the answer that there were when it failed. */
  partialOutput?: string;
};

/** A task will not run. */
export type ServerTaskSkipped = Event & {
  type: 'task_skipped';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** What the agent works on. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`. */
  turnId: string;
  /** The name of the task. */
  taskName?: string;
  /** Why. */
  reason: string;
};

export type ServerDirectiveActive =
  | Event & {
    type: 'directive_active';
    /** Its id. */
    directiveId: string;
    /** Who said it. */
    from: string;
    /** What was said. */
    content: string;
    /** The task or role it is for; everybody when absent. */
    target?: string | null;
    /** More important ones are read first. */
    priority: 'LOW' | 'NORMAL' | 'HIGH';
    /** When it stops counting. */
    expiresAt?: string | null;
    /** The person that the sender says it speaks for. */
    onBehalfOf?: string;
  }
  | {
    type: 'directive_active';
    /** The directive. */
    directiveId: string;
    /** The name of the key, where keys are needed. */
    from: string;
    /** What it does. */
    action: string;
    /** The tier. */
    value: string;
    /** In whose name, by the word of `from` alone. */
    onBehalfOf?: string;
  };

/** An agent reads it with its next model call. */
export type ServerDirectiveDelivered = Event & {
  type: 'directive_delivered';
  /** Its id. */
  directiveId: string;
  /** The task that reads it, from 1. */
  taskIndex: number;
  /** The round that reads it, from 0. */
  iterationIndex: number;
};

/** Every later model call goes to another model. */
export type ServerModelSwitched = Event & {
  type: 'model_switched';
  /** The alias from now on. */
  model?: string;
  /** The alias before. */
  previousModel: string;
  /** The first task it holds for, from 1; 0 when none is under way. */
  taskIndex: number;
  /** The first round it holds for, from 0. */
  iterationIndex: number;
  /** Who wanted it. */
  by: string;
};

/** A person wants the run to stop. */
export type ServerCancelRequested = Event & {
  type: 'cancel_requested';
  /** How soon. */
  mode: 'after_task' | 'after_iteration' | 'now';
  /** Who wants it. */
  by: string;
};

/** Nothing new is begun until the run is resumed. */
export type ServerRunPaused = Event & {
  type: 'run_paused';
  /** Who paused it. */
  by: string;
};

/** The run goes on. */
export type ServerRunResumed = Event & {
  type: 'run_resumed';
  /** Who resumed it. */
  by: string;
};

/** The next step would pass a limit. */
export type ServerBudgetExceeded = Event & {
  type: 'budget_exceeded';
  /** Which limit. */
  reason: 'subtasks' | 'llm_calls' | 'tool_calls' | 'wall_clock' | 'tokens' | 'cost';
  /** The limit; US dollars where it is money. */
  limit: number;
  /** The amount that the step would have reached. */
  observed: number;
};

/** The run is over. */
export type ServerEnsembleCompleted = RunEvent & {
  type: 'ensemble_completed';
  /** The id of this execution. */
  ensembleId: string;
  /** When it ended. */
  completedAt: string;
  /** How long it took. */
  durationMs: number;
  /** Why it ended. */
  exitReason: 'COMPLETED' | 'USER_EXIT_EARLY' | 'TIMEOUT' | 'ERROR' | 'CANCELLED';
  /** Tokens used; -1 when unknown. */
  totalTokens: number;
  /** Tool calls made. */
  totalToolCalls: number;
  /** Why it failed. */
  error?: string;
};

/** A process has taken the turn over; calls of the one before are lost. */
export type ServerTurnAdopted = ChatEvent & {
  type: 'turn_adopted';
  /** Counts the processes that had the turn, from 1. */
  epoch: number;
};

/** The turn begins. */
export type ServerTurnStarted = ChatEvent & {
  type: 'turn_started';
  /** The alias of its model. */
  model: string;
  /** What it may do without asking. */
  permission_mode: 'plan' | 'default' | 'auto';
};

/** A model is asked. */
export type ServerLlmStarted = ChatEvent & {
  type: 'llm_started';
  /** The call that the subtask is; null for the conversation itself. */
  parent_id: string | null;
  /** How deep the subtask is nested. */
  depth: number;
  /** The model call. */
  call_id: string;
  /** The alias of the model. */
  model: string;
  /** The round of the conversation, from 0. */
  iteration: number;
};

/** A model has answered. */
export type ServerLlmCompleted = ChatEvent & {
  type: 'llm_completed';
  /** The call that the subtask is; null for the conversation itself. */
  parent_id: string | null;
  /** How deep the subtask is nested. */
  depth: number;
  /** The model call. */
  call_id: string;
  /** What it said. */
  content: string;
};

/** A model did not answer; what it had said does not count. */
export type ServerLlmVoided = ChatEvent & {
  type: 'llm_voided';
  /** The call that the subtask is; null for the conversation itself. */
  parent_id: string | null;
  /** How deep the subtask is nested. */
  depth: number;
  /** The model call. */
  call_id: string;
  /** What went wrong. */
  message: string;
  /** What follows. */
  then: 'retry' | 'fallback' | 'shorten' | 'give_up';
};

/** A row of the conversation. */
export type ServerMessage = ChatEvent & {
  type: 'message';
  /** Its id. */
  id: string;
  /** Who said it. */
  role: 'user' | 'assistant' | 'tool';
  /** What was said. */
  content: string;
  /** The calls it asks for. */
  tool_calls:
    | {
      /** The call. */
      id: string;
      /** The tool. */
      name: string;
      /** Its arguments. */
      args: unknown;
    }[]
    | null;
  /** The call it answers. */
  tool_call_id: string | null;
  /** Whether it is an error. */
  is_error: boolean;
  /** The reason for a failed turn, beside what had been said. */
  error: string | null;
  /** Whether it is an answer that was cut at the output limit. */
  truncated: boolean;
  /** The id of the row it goes on with, which was cut. */
  continues: string | null;
  /** The calls of the whole turn, with its last row. */
  execution_tree:
    | {
      /** The version of this shape. */
      version: number;
      /** The calls, in the order they were asked for. */
      nodes: {
        /** The call. */
        id: string;
        /** The call of the subtask it was made in. */
        parent_id: string | null;
        /** The tool. */
        name: string;
        /** The title of a subtask. */
        title?: string;
        /** The beginning of its arguments. */
        args_preview: string;
        /** The beginning of its result. */
        result_preview: string;
        /** Whether it failed. */
        is_error: boolean;
        /** How long it took. */
        duration_ms: number;
      }[];
    }
    | null;
  /** When it was stored. */
  created_at: string;
  /** The call that the subtask is; null for the conversation itself. */
  parent_id: string | null;
  /** How deep the subtask is nested. */
  depth: number;
  /** The model call that made it. */
  call_id?: string;
};

/** A tool call begins or has ended. */
export type ServerToolCallUpdate = ChatEvent & ({
  type: 'tool_call_update';
  /** The call that the subtask is; null for the conversation itself. */
  parent_id: string | null;
  /** How deep the subtask is nested. */
  depth: number;
  /** The call. */
  tool_call_id: string;
  /** The tool. */
  name: string;
  /** Its arguments, at its beginning. */
  args?: unknown;
  /** Its result, at its end. */
  result?: string;
  /** Whether it failed, at its end. */
  is_error?: boolean;
  /** Begin or end. */
  status: 'start' | 'end';
  /** The title of a subtask, at its beginning. */
  message?: string | null;
  /** How long it took, at its end. */
  duration_ms?: number;
  /** The workflow that was drawn, at its end. */
  data?: unknown;
} & (
  | {
    status: 'start';
    args: unknown;
  }
  | {
    status: 'end';
    result: string;
    is_error: boolean;
    duration_ms: number;
  }));

/** A call that the client is to make. */
export type ServerToolCall = ChatEvent & {
  type: 'tool_call';
  /** The call that the subtask is; null for the conversation itself. */
  parent_id: string | null;
  /** How deep the subtask is nested. */
  depth: number;
  /** The call. */
  tool_call_id: string;
  /** The tool. */
  name: string;
  /** Its arguments. */
  args: unknown;
  /** When the turn stops waiting for the result. */
  expires_at: string;
};

/** A call waits for permission. */
export type ServerToolApprovalRequest = ChatEvent & {
  type: 'tool_approval_request';
  /** The call that the subtask is; null for the conversation itself. */
  parent_id: string | null;
  /** How deep the subtask is nested. */
  depth: number;
  /** The id to decide it by. */
  approval_id: string;
  /** The call. */
  tool_call_id: string;
  /** The tool. */
  tool_name: string;
  /** The kind of effect it has. */
  category: string;
  /** Its arguments. */
  args: unknown;
  /** The question. */
  message: string;
  /** Why it is asked. */
  reason: 'effect' | 'taint' | 'instructions';
  /** The host, or the name of the MCP server or peer, that the arguments would go to. */
  host: string | null;
  /** The size of the arguments in bytes. */
  bytes: number;
  /** What the chat has read that its user did not write, where that is why it is asked. */
  sources: string[];
  /** When it was asked. */
  created_at: string;
  /** When it counts as denied. */
  expires_at: string | null;
};

/** That is decided. */
export type ServerToolApprovalResolved = ChatEvent & {
  type: 'tool_approval_resolved';
  /** Its id. */
  approval_id: string;
  /** The decision. */
  decision: 'allow' | 'allow_for_chat' | 'deny' | 'expired' | 'closed';
  /** Who decided. */
  by: string;
};

/** What was allowed for the rest of the chat was taken back. */
export type ServerGrantWithdrawn = ChatEvent & {
  type: 'grant_withdrawn';
  /** The grant. */
  grant_id: string;
  /** Who took it back. */
  by: string;
};

/** The turn may do more or less without asking. */
export type ServerPermissionModeChanged = ChatEvent & {
  type: 'permission_mode_changed';
  /** What it may do now. */
  permission_mode: 'plan' | 'default' | 'auto';
  /** Who wanted it. */
  by: string;
};

/** A workflow is being drawn. */
export type ServerPlanningUpdate = ChatEvent & {
  type: 'planning_update';
  /** The call that the subtask is; null for the conversation itself. */
  parent_id: string | null;
  /** How deep the subtask is nested. */
  depth: number;
  /** What is being done. */
  phase: 'planning' | 'validation';
  /** How far it is. */
  status: 'start' | 'end' | 'failed';
  /** In words. */
  content: string;
};

/** A task of a workflow was planned, begun or ended. */
export type ServerTaskUpdate = ChatEvent & {
  type: 'task_update';
  /** The call that the subtask is; null for the conversation itself. */
  parent_id: string | null;
  /** How deep the subtask is nested. */
  depth: number;
  /** What happened. */
  event: 'planned' | 'started' | 'completed' | 'skipped' | 'failed';
  /** The task. */
  task: {
    /** Its name. */
    name?: string | null;
    /** What is to be done. */
    description?: string | null;
    /** The tools it may call. */
    tools?: string[] | null;
    /** The tasks it reads from. */
    context?: string[] | null;
    /** Its output. */
    output?: string | null;
    /** Why it was skipped or failed. */
    reason?: string;
  };
};

/** The turn was stopped. */
export type ServerTurnStopped = ChatEvent & {
  type: 'turn_stopped';
};

export type ServerError =
  | ChatEvent & {
    type: 'error';
    /** What went wrong, as a word. */
    code: string;
    /** What went wrong. */
    message: string;
    /** The status of the provider's answer, when that was the trouble. */
    status_code?: number;
  }
  | {
    type: 'error';
    /** For programs. */
    code: string;
    /** For people. */
    message: string;
    /** When to try again; also the header `Retry-After`. */
    retryAfterMs?: number;
    /** Where the run stands, when that is why. */
    runStatus?: 'ACCEPTED' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'REJECTED';
    /** What was decided before. */
    decision?: string;
    /** The turn that runs. */
    turnId?: string;
    /** Everything that is wrong with a request. */
    mistakes?: {
      /** Kinds of mistakes, with the names they have on the wire. */
      error:
        | 'BAD_REQUEST'
        | 'INVALID_TOOL'
        | 'INVALID_MODEL'
        | 'INVALID_TASK_OVERRIDE'
        | 'CIRCULAR_DEPENDENCY'
        | 'MISSING_INPUT'
        | 'INVALID_SCHEMA'
        | 'TEMPLATE_TOO_LARGE'
        | 'NOT_CONFIGURED'
        | 'media_generation_unavailable';
      /** A path into the request. */
      place: string;
      message: string;
    }[];
    /** The version there is now. */
    version?: number;
    /** From the request. */
    requestId?: string | number;
    /** From the request, in the spelling of the chat's frames. */
    request_id?: string | number;
    /** The run. */
    runId?: string | number;
    /** The thread. */
    thread_id?: string | number;
    /** The turn. */
    turn_id?: string | number;
  };

export type ServerChunk =
  | ChatEvent & {
    type: 'chunk';
    /** Empty. */
    content: string;
    /** True. */
    done: true;
    /** The call that the subtask is; null for the conversation itself. */
    parent_id: string | null;
    /** How deep the subtask is nested. */
    depth: number;
    /** How it ended. */
    status: 'ACCEPTED' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'REJECTED';
  }
  | {
    type: 'chunk';
    /** The thread. */
    thread_id: string;
    /** The turn. */
    turn_id: string;
    /** The call that the subtask is; null for the conversation itself. */
    parent_id: string | null;
    /** How deep the subtask is nested. */
    depth: number;
    /** The model call. */
    call_id: string;
    /** The words. */
    content: string;
    /** Where in the answer they stand, in bytes. */
    offset?: number;
    /** True when the model thinks them: they are no part of the answer. */
    thinking?: true;
    /** The number of the frame they follow. */
    chat_seq: number;
  } & ({
    offset: number;
  } | {
    thinking: true;
  });

/** What the turn used. */
export type ServerCostSummary = ChatEvent & {
  type: 'cost_summary';
  /** US dollars, when every model has a price. */
  total_usd: number | null;
  /** Tokens read. */
  input_tokens: number;
  /** Tokens written. */
  output_tokens: number;
  /** Tokens read from the provider's cache. */
  cached_tokens: number;
  /** Model calls. */
  llm_calls: number;
  /** Tool calls. */
  tool_calls: number;
  /** Subtasks. */
  subtasks: number;
  /** Time of work. */
  wall_ms: number;
  /** The same for each model. */
  by_model: {
    /** Its alias. */
    model: string;
    /** Model calls. */
    llm_calls: number;
    /** Tokens read. */
    input_tokens: number;
    /** Tokens written. */
    output_tokens: number;
    /** Tokens read from the provider's cache. */
    cached_tokens: number;
    /** US dollars, when it has a price. */
    total_usd: number | null;
  }[];
  /** Models without a price. */
  unpriced_models: string[];
};

/** Words of a model of a run. */
export interface ServerToken {
  type: 'token';
  /** The run. */
  runId: string;
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** What the agent works on. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`. */
  turnId: string;
  /** The words. */
  token: string;
  /** When they came. */
  sentAt: string;
}

/** How far a call is. */
export type ServerToolProgress = {
  type: 'tool_progress';
  /** A word for it. */
  status?: string;
  /** A sentence for it. */
  message?: string;
  /** The part that is done, in percent. */
  percentComplete?: number;
  /** When it was said, in a run. */
  sentAt?: string;
  /** The number of the frame it follows, in a chat. */
  chat_seq?: number;
} & (
  | {
    /** The run. */
    runId: string;
    /** The number of the task, from 1. */
    taskIndex: number;
    /** The role of the agent. */
    agentRole: string;
    /** What the agent works on. */
    taskDescription: string;
    /** The place of the task or subtask in the run, such as `2` or `2.0.1`. */
    turnId: string;
    /** The call. */
    callId: string;
    /** The tool. */
    toolName: string;
  }
  | {
    /** The thread. */
    thread_id: string;
    /** The turn. */
    turn_id: string;
    /** The call that the subtask is; null for the conversation itself. */
    parent_id: string | null;
    /** How deep the subtask is nested. */
    depth: number;
    /** The call. */
    tool_call_id: string;
    /** The tool. */
    name: string;
  });

/** What came of a run; it follows the last event. */
export interface ServerRunResult {
  type: 'run_result';
  /** The run. */
  runId: string;
  /** How it ended. */
  status: 'ACCEPTED' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'REJECTED';
  /** The outputs of its tasks, in the order in which they completed. */
  outputs: {
    /** The name of the task. */
    taskName: string;
    /** The output. */
    output: string;
    /** How long the task took. */
    durationMs: number;
    /** The output as data, when the task has a schema. */
    parsedOutput?: unknown;
    /** The output was cut at the output limit and taken all the same. */
    truncated?: boolean;
    /** The task ended in the run that this one goes on from. */
    inherited?: true;
  }[];
  /** How long it took. */
  durationMs: number;
  /** What it used. */
  metrics: {
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
  };
  /** What came out of the run: the last of `outputs`, in a hierarchy the manager's answer; null unless it completed. */
  output: string | null;
  /** `output` as data, when its task has a schema. */
  parsedOutput?: unknown;
  /** Why it failed. */
  error?: string;
}

/** The first frame: where everything stands. */
export interface ServerHello {
  type: 'hello';
  /** The id of the newest run's execution. */
  ensembleId?: string;
  /** When that started. */
  startedAt?: string;
  /** The name of this ensemble. */
  ensemble: string;
  /** The group it belongs to. */
  realm: string | null;
  /** The version of Consort. */
  version: string;
  /** What others may use. */
  sharedCapabilities: {
    /** Unique in its ensemble. */
    name: string;
    /** What it does, for the model. */
    description: string;
    /** Tool or task. */
    type: 'TASK' | 'TOOL';
    /** What it is about. */
    tags: string[];
    /** What its input must look like; absent: a text. */
    schema?: unknown;
    /** Which version of it this is. */
    version?: string;
    /** What doing it twice would mean; absent: it must not be done twice. */
    effect?: 'read' | 'idempotent' | 'once';
    /** How long it may take. */
    timeoutMs?: number;
  }[];
  /** How often it says that it is there. */
  leaseMs: number;
  /** Bytes of one frame that is read here. */
  maxFrameBytes: number;
  /** Something was left out. */
  truncated?: boolean;
  /** Frames of the newest runs, in the order of their events. */
  snapshotTrace: ServerFrame[];
  /** The newest model calls. */
  recentIterations: {
    /** Its beginning. */
    started: ServerFrame;
    /** Its end. */
    completed?: ServerFrame;
  }[];
}

/** The server is there. */
export interface ServerHeartbeat {
  type: 'heartbeat';
  /** Its clock. */
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
  /** From the request. */
  requestId?: string | number;
  /** The name of the key. */
  name: string;
}

/** What will be shown. */
export interface ServerSubscribeAck {
  type: 'subscribe_ack';
  /** From the request. */
  requestId?: string | number;
  /** The types of frames; `*` is all of them. */
  events: string[];
  /** Of this run only. */
  runId?: string;
}

/** What became of `run_request`. */
export interface ServerRunAck {
  type: 'run_ack';
  /** From the request. */
  requestId?: string | number;
  /** The run; one there was no room for has a name, and nothing else. */
  runId?: string;
  /** Whether it was taken. */
  status: 'ACCEPTED' | 'REJECTED';
  /** Nothing was to be run: what would be. */
  dryRun?: boolean;
  /** How many tasks it has. */
  tasks: number;
  /** In which order its tasks run. */
  workflow?: 'SEQUENTIAL' | 'PARALLEL' | 'HIERARCHICAL';
  /** The tasks that would run. */
  resolvedTasks?: {
    name: string;
    description: string;
    expectedOutput: string;
    agentRole: string;
    model: string;
    tools: string[];
    context: string[];
  }[];
  /** What was overlooked in the request. */
  warnings?: string[];
  /** Why it was not taken, for programs. */
  error?:
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
    | 'GRANT_NOT_FOUND'
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
  /** Why it was not taken, for people. */
  message?: string;
  /** When to try again; also the header `Retry-After`. */
  retryAfterMs?: number;
  /** Where the run stands, when that is why. */
  runStatus?: 'ACCEPTED' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'REJECTED';
  /** What was decided before. */
  decision?: string;
  /** The turn that runs. */
  turnId?: string;
  /** Everything that is wrong with a request. */
  mistakes?: {
    /** Kinds of mistakes, with the names they have on the wire. */
    error:
      | 'BAD_REQUEST'
      | 'INVALID_TOOL'
      | 'INVALID_MODEL'
      | 'INVALID_TASK_OVERRIDE'
      | 'CIRCULAR_DEPENDENCY'
      | 'MISSING_INPUT'
      | 'INVALID_SCHEMA'
      | 'TEMPLATE_TOO_LARGE'
      | 'NOT_CONFIGURED'
      | 'media_generation_unavailable';
    /** A path into the request. */
    place: string;
    message: string;
  }[];
  /** The version there is now. */
  version?: number;
}

/** What became of `run_control`. */
export type ServerRunControlAck = {
  type: 'run_control_ack';
  /** From the request. */
  requestId?: string | number;
  /** The run. */
  runId: string;
  /** What was asked of it. */
  action: string;
} & (
  | {
    /** The alias of the model it asks now. */
    model: string;
    /** The alias of the one it asked before. */
    previousModel?: string;
    /** It holds. */
    status: 'APPLIED';
  }
  | {
    /** What became of it. */
    status:
      | 'CANCELLING'
      | 'PAUSED'
      | 'RESUMED'
      | 'NOT_FOUND'
      | 'REJECTED'
      | 'INVALID_MODEL'
      | 'INVALID_ACTION'
      | 'NOT_CONFIGURED';
    /** The alias that is not known. */
    model?: string;
  });

/** The answer to `state_query`, as over HTTP. */
export interface ServerStateResponse {
  type: 'state_response';
  /** From the request. */
  requestId?: string | number;
  /** What HTTP answers. */
  data: Record<string, unknown>;
}

/** The decision holds. */
export interface ServerReviewDecisionAck {
  type: 'review_decision_ack';
  /** From the request. */
  requestId?: string | number;
  reviewId: string;
  decision: string;
  /** Something that holds from now on. */
  status: 'APPLIED';
}

/** What became of `directive`. */
export type ServerDirectiveAck = {
  type: 'directive_ack';
  /** From the request. */
  requestId?: string | number;
} & (
  | {
    /** Its id, in the first run it was given to. */
    directiveId: string;
    /** It was given. */
    status: 'accepted';
  }
  | {
    /** It was not given. */
    status: 'REJECTED';
    /** Why, for programs. */
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
      | 'GRANT_NOT_FOUND'
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
    /** Why, for people. */
    message: string;
    /** There is none. */
    directiveId: null;
  });

/** What is shared. */
export interface ServerCapabilityResponse {
  type: 'capability_response';
  /** From the request. */
  requestId?: string | number;
  /** The ensemble that shares it. */
  ensemble: string;
  /** What matches. */
  capabilities: {
    /** Unique in its ensemble. */
    name: string;
    /** What it does, for the model. */
    description: string;
    /** Tool or task. */
    type: 'TASK' | 'TOOL';
    /** What it is about. */
    tags: string[];
    /** What its input must look like; absent: a text. */
    schema?: unknown;
    /** Which version of it this is. */
    version?: string;
    /** What doing it twice would mean; absent: it must not be done twice. */
    effect?: 'read' | 'idempotent' | 'once';
    /** How long it may take. */
    timeoutMs?: number;
  }[];
}

/** A message was taken. */
export interface ServerChatAck {
  type: 'chat_ack';
  /** From the request. */
  request_id?: string | number;
  /** The thread. */
  thread_id: string;
  /** The turn. */
  turn_id: string;
  /** The number of its first frame, when it has begun. */
  seq?: number;
  /** How many go before it, when it waits. */
  queue_position?: number;
}

/** A turn will stop. */
export interface ServerChatStopped {
  type: 'chat_stopped';
  /** From the request. */
  request_id?: string | number;
  /** The thread. */
  thread_id: string;
  /** The turn. */
  turn_id: string;
}

/** What follows are the missed frames. */
export interface ServerChatResumed {
  type: 'chat_resumed';
  /** From the request. */
  request_id?: string | number;
  /** The thread. */
  thread_id: string;
  /** Whether a turn runs. */
  status: 'running' | 'finished';
  /** The number of its last frame. */
  last_seq?: number;
  /** The turn that runs. */
  turn_id?: string;
}

/** The turns that run. */
export interface ServerChatTurns {
  type: 'chat_turns';
  /** Each with where it stands. */
  turns: {
    /** Its thread. */
    thread_id: string;
    /** The turn. */
    turn_id: string;
    /** It runs. */
    status: 'running';
    /** The number of its last frame. */
    last_seq: number | null;
  }[];
}

/** What may be done without asking. */
export interface ServerPermissionMode {
  type: 'permission_mode';
  /** From the request. */
  request_id?: string | number;
  /** The thread. */
  thread_id: string;
  /** What holds from now on. */
  permission_mode: 'plan' | 'default' | 'auto';
}

/** The answer holds. */
export interface ServerToolApprovalAck {
  type: 'tool_approval_ack';
  /** From the request. */
  request_id?: string | number;
  /** What was asked. */
  approval_id: string;
  /** The answer. */
  decision: string;
  /** It holds. */
  status: 'APPLIED';
}

/** The tools are known. */
export interface ServerUiManifestAck {
  type: 'ui_manifest_ack';
  /** From the request. */
  request_id?: string | number;
  /** Their names. */
  tools: string[];
}

/** Do a shared task. */
export interface ServerTaskRequest {
  type: 'task_request';
  /** Unique to this intent: the same one is never done twice. */
  requestId: string;
  /** Who asks. */
  from: string;
  /** Which task. */
  task: string;
  /** What it is to know. */
  context?: string;
  /** What it goes before. */
  priority?: 'LOW' | 'NORMAL' | 'HIGH' | 'CRITICAL';
  /** How long the asker waits. */
  deadline?: string | number;
  /** Where the answer goes. */
  delivery?: {
    /** How: only `WEBSOCKET`, the link itself, is offered here. */
    method: string;
    /** Where to. */
    address?: string;
  };
  /** The trace this belongs to. */
  traceContext?: {
    /** The span that asks. */
    traceparent: string;
    /** What vendors add to it. */
    tracestate?: string;
  };
  /** Whether an earlier answer will do. */
  cachePolicy?: 'USE_CACHED' | 'FORCE_FRESH';
  /** What earlier answers are kept under. */
  cacheKey?: string;
  /** How long the answer may be kept. */
  maxAge?: string | number;
  /** The ensembles it came through, the first one first. */
  ancestors?: string[];
  /** How many more ensembles it may pass through. */
  hops?: number;
  /** What it may use. */
  budget?: {
    /** Tokens, read and written. */
    tokens?: number;
    /** Money, in billionths of a dollar. */
    costNanoUsd?: number;
  };
  /** Whether it was sent before: what is not known is then not begun. */
  resumed?: boolean;
}

/** Call a shared tool. */
export interface ServerToolRequest {
  type: 'tool_request';
  /** Unique to this intent: the same one is never done twice. */
  requestId: string;
  /** Who asks. */
  from: string;
  /** Which tool. */
  tool: string;
  /** What to call it with: a text, or an object that fits its schema. */
  input?: unknown;
  /** How long the asker waits. */
  deadline?: string | number;
  /** The trace this belongs to. */
  traceContext?: {
    /** The span that asks. */
    traceparent: string;
    /** What vendors add to it. */
    tracestate?: string;
  };
  /** The ensembles it came through, the first one first. */
  ancestors?: string[];
  /** How many more ensembles it may pass through. */
  hops?: number;
  /** What it may use. */
  budget?: {
    /** Tokens, read and written. */
    tokens?: number;
    /** Money, in billionths of a dollar. */
    costNanoUsd?: number;
  };
  /** Whether it was sent before: what is not known is then not begun. */
  resumed?: boolean;
}

/** The work is not wanted any more. */
export interface ServerRequestCancel {
  type: 'request_cancel';
  /** Which request. */
  requestId: string;
}

/** The work is taken on. */
export interface ServerTaskAccepted {
  type: 'task_accepted';
  /** Which request. */
  requestId: string;
  /** How many go before it. */
  queuePosition?: number;
  /** How long it may take. */
  estimatedCompletion?: string | number;
}

/** How far the work is. */
export interface ServerTaskProgress {
  type: 'task_progress';
  /** Which request. */
  requestId: string;
  /** In a word. */
  status?: string;
  /** In a sentence. */
  message?: string;
  /** As a number, from 0 to 100. */
  percentComplete?: number;
}

/** What came of the work. */
export interface ServerTaskResponse {
  type: 'task_response';
  /** Which request. */
  requestId: string;
  /** How it ended. */
  status: 'COMPLETED' | 'FAILED' | 'REJECTED' | 'IN_PROGRESS';
  /** What it gave. */
  result?: string;
  /** Why it gave nothing. */
  error?: string;
  /** How long it took. */
  durationMs?: number;
  /** Whether it may have had an effect although it gave nothing. */
  unknown?: boolean;
  /** What it used. */
  usage?: {
    /** Tokens read. */
    inputTokens: number;
    /** Tokens written. */
    outputTokens: number;
    /** What reading cost, in billionths of a dollar. */
    inputCostNanoUsd: number;
    /** What writing cost. */
    outputCostNanoUsd: number;
  };
}

/** What came of the work. */
export interface ServerToolResponse {
  type: 'tool_response';
  /** Which request. */
  requestId: string;
  /** How it ended. */
  status: 'COMPLETED' | 'FAILED' | 'REJECTED' | 'IN_PROGRESS';
  /** What it gave. */
  result?: string;
  /** Why it gave nothing. */
  error?: string;
  /** How long it took. */
  durationMs?: number;
  /** Whether it may have had an effect although it gave nothing. */
  unknown?: boolean;
  /** What it used. */
  usage?: {
    /** Tokens read. */
    inputTokens: number;
    /** Tokens written. */
    outputTokens: number;
    /** What reading cost, in billionths of a dollar. */
    inputCostNanoUsd: number;
    /** What writing cost. */
    outputCostNanoUsd: number;
  };
}

/** How busy an ensemble is. */
export interface ServerCapacityUpdate {
  type: 'capacity_update';
  /** Who. */
  ensemble: string;
  /** The group it belongs to. */
  realm: string | null;
  /** Whether it takes work on. */
  status: 'available' | 'busy' | 'draining';
  /** How much of what it can do at once is taken, from 0 to 1. */
  currentLoad: number;
  /** How much it can do at once. */
  maxConcurrent: number;
  /** Whether ensembles of other realms may use it. */
  shareable: boolean;
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
  /** Repeated in the answer. */
  requestId?: string | number | null;
  /** The key. */
  key: string;
}

/** What is to be shown. */
export interface ClientSubscribe {
  type: 'subscribe';
  /** Repeated in the answer. */
  requestId?: string | number | null;
  /** The types of frames; all when absent. */
  events?: string[] | null;
  /** Of this run only. */
  runId?: string | null;
  /** The first event of the run that is wanted. */
  from?: number | null;
}

/** Start a run; the fields of `POST /api/runs`. */
export interface ClientRunRequest {
  type: 'run_request';
  /** Repeated in the answer. */
  requestId?: string | number | null;
  /** Values of template variables. */
  inputs?: Record<string, string | number | boolean | null> | null;
  /** Labels to find it by. */
  tags?: Record<string, string | number | boolean | null> | null;
  /** The tasks. */
  tasks?:
    | {
      /** What to do; may have `{variables}`. */
      description: string;
      /** Its name, unique in the run. */
      name?: string | null;
      /** What the output should be. */
      expectedOutput?: string | null;
      /** Who does it; derived from the description when absent. */
      agent?:
        | {
          /** What it is. */
          role: string;
          /** What it wants; the description when absent. */
          goal?: string | null;
          /** What it has done before. */
          background?: string | null;
          /** Whether it may hand work to the agents of other tasks. */
          allowDelegation?: boolean | null;
        }
        | null;
      /** What else the agent should know. */
      additionalContext?: string | null;
      /** An alias. */
      model?: string | null;
      /** How models answer. */
      modelOptions?:
        | {
          /** For models of Anthropic at most 1. */
          temperature?: number | null;
          /** The share of likely words that are chosen from. */
          topP?: number | null;
          /** Refused for models of Anthropic and over OpenAI's responses, which have none. */
          seed?: number | null;
          /** How long a model thinks, as far as the provider has it. One of none, minimal, low, medium, high, xhigh, max, in any case. */
          reasoningEffort?: string | null;
        }
        | null;
      /** Tools the agent may call. */
      tools?: string[] | null;
      /** Tasks whose output it reads, as `$name` or an index. */
      context?: string[] | null;
      /** Rounds of model calls at most. */
      maxIterations?: number | string | null;
      /** An answer cut at the output limit; continue when absent. One of continue, fail, accept, in any case. */
      onTruncated?: string | null;
      /** A JSON Schema its output must fit. */
      outputSchema?: unknown;
      /** Whether a person looks at its output, whatever `reviewPolicy` says. One of required, skip, in any case. */
      review?: string | null;
    }[]
    | null;
  /** Changes to configured tasks, by their names. */
  taskOverrides?:
    | Record<string, {
      /** What to do. */
      description?: string | null;
      /** What the output should be. */
      expectedOutput?: string | null;
      /** What else the agent should know. */
      additionalContext?: string | null;
      /** An alias. */
      model?: string | null;
      /** How models answer. */
      modelOptions?:
        | {
          /** For models of Anthropic at most 1. */
          temperature?: number | null;
          /** The share of likely words that are chosen from. */
          topP?: number | null;
          /** Refused for models of Anthropic and over OpenAI's responses, which have none. */
          seed?: number | null;
          /** How long a model thinks, as far as the provider has it. One of none, minimal, low, medium, high, xhigh, max, in any case. */
          reasoningEffort?: string | null;
        }
        | null;
      /** Rounds of model calls at most. */
      maxIterations?: number | string | null;
      /** An answer cut at the output limit. One of continue, fail, accept, in any case. */
      onTruncated?: string | null;
      /** Changes to its tools. */
      tools?:
        | {
          /** Tools it gets. */
          add?: string[] | null;
          /** Tools it loses. */
          remove?: string[] | null;
        }
        | null;
    }>
    | null;
  /** How it is carried out. */
  options?:
    | {
      /** Characters of a tool's output that a model reads; -1 for all. */
      maxToolOutputLength?: number | null;
      /** Characters of a tool's output in the log; -1 for all. */
      toolLogTruncateLength?: number | null;
      /** The order of the tasks. One of SEQUENTIAL, PARALLEL, HIERARCHICAL, in any case. */
      workflow?: string | null;
      /** Whether the log of the server tells what happens. */
      verbose?: boolean | null;
      /** Whose output a person looks at. One of NEVER, AFTER_EVERY_TASK, AFTER_LAST_TASK, in any case. */
      reviewPolicy?: string | null;
      /** What ends a review that nobody decides in time. Where neither this nor `on_timeout` of the file is written, reviews that a task demands wait for a person. One of CONTINUE, EXIT_EARLY, FAIL, in any case. */
      onTimeout?: string | null;
      /** What an exported trace holds. One of OFF, STANDARD, FULL, DETAILED, in any case. */
      captureMode?: string | null;
    }
    | null;
  /** How models answer. */
  modelOptions?:
    | {
      /** For models of Anthropic at most 1. */
      temperature?: number | null;
      /** The share of likely words that are chosen from. */
      topP?: number | null;
      /** Refused for models of Anthropic and over OpenAI's responses, which have none. */
      seed?: number | null;
      /** How long a model thinks, as far as the provider has it. One of none, minimal, low, medium, high, xhigh, max, in any case. */
      reasoningEffort?: string | null;
    }
    | null;
  /** Only say what would run. */
  dryRun?: boolean | null;
}

/** Steer a run. */
export interface ClientRunControl {
  type: 'run_control';
  /** Repeated in the answer. */
  requestId?: string | number | null;
  /** The run. */
  runId: string;
  /** What is asked of it. One of cancel, switch_model, pause, resume, in any case. */
  action: string;
  /** The alias to switch to. */
  model?: string | null;
  /** How soon it is cancelled; after_task when absent. One of after_task, after_iteration, now, in any case. */
  mode?: string | null;
}

/** Decide a review; the fields of `POST /api/reviews/{id}`. */
export interface ClientReviewDecision {
  type: 'review_decision';
  /** Repeated in the answer. */
  requestId?: string | number | null;
  /** The review. */
  reviewId: string;
  /** APPROVE is CONTINUE. One of CONTINUE, APPROVE, EDIT, EXIT_EARLY, REJECT, in any case. */
  decision: string;
  /** Needed by EDIT. */
  revisedOutput?: string | null;
  /** Needed by REJECT. */
  feedback?: string | null;
}

/** Say something to the agents, or choose a tier of models. */
export interface ClientDirective {
  type: 'directive';
  /** Repeated in the answer. */
  requestId?: string | number | null;
  /** The run; all that are under way when absent. */
  runId?: string | null;
  /** What is said. */
  content?: string | null;
  /** The ensemble, or a role or a task of it. */
  to?: string | null;
  /** A role or a task; everybody when absent. */
  target?: string | null;
  /** Who says it; where keys are needed the key's name is, and this is `onBehalfOf`. */
  from?: string | null;
  /** In whose name it is said. */
  onBehalfOf?: string | null;
  /** How important it is; NORMAL when absent. One of LOW, NORMAL, HIGH, in any case. */
  priority?: string | null;
  /** How long it matters, as in `PT10M`. */
  ttl?: string | null;
  /** SET_MODEL_TIER, to choose a tier instead of saying something. */
  action?: string | null;
  /** The tier. One of PRIMARY, FALLBACK, in any case. */
  value?: string | null;
}

/** Ask where things stand. */
export interface ClientStateQuery {
  type: 'state_query';
  /** Repeated in the answer. */
  requestId?: string | number | null;
  /** What is asked about. One of runs, run_detail, capabilities, in any case. */
  query: string;
  /** The run, of run_detail. */
  runId?: string | null;
  /** The runs wanted, as in the query of `GET /api/runs`. */
  filter?:
    | {
      /** Where they stand. */
      status?: string | number | (string | number)[] | null;
      /** `key:value`, or `key` with any value; all given ones must match. */
      tag?: string | number | (string | number)[] | null;
      /** How many at most. */
      limit?: string | number | (string | number)[] | null;
      /** How many to pass over. */
      offset?: string | number | (string | number)[] | null;
    }
    | null;
}

/** Who shares what? */
export interface ClientCapabilityQuery {
  type: 'capability_query';
  /** Repeated in the answer. */
  requestId?: string | number | null;
  /** Of this name. */
  capabilityName?: string | null;
  /** The same. */
  toolName?: string | null;
  /** With this tag. */
  tag?: string | null;
  /** TASK or TOOL. */
  capabilityType?: string | null;
}

/** Say something; the fields of `POST /api/threads/{id}/messages`. */
export interface ClientChatMessage {
  type: 'chat_message';
  /** Repeated in the answer. */
  request_id?: string | number | null;
  /** The thread; a new one when absent. */
  thread_id?: string | null;
  /** The words. */
  content: string;
  /** The alias to ask. */
  model?: string | null;
  /** `{kind: "editor", workflowId}`: the workflow that is open. */
  chat_context?: Record<string, unknown> | string | null;
  /** `workflow`: the workflow of `workflow_id` answers instead of the chat agent. */
  workflow_target?: string | null;
  /** The workflow that answers, or is open. */
  workflow_id?: string | null;
  /** Collections to look the answer up in. */
  collections?: string[] | null;
  /** Whether what is known of the user may be recalled and added to. */
  memory_enabled?: boolean | null;
  /** What may be done without asking. */
  permission_mode?: 'plan' | 'default' | 'auto' | null;
  /** What to do while another turn runs. */
  if_busy?: 'interrupt' | 'reject' | 'queue' | null;
}

/** Go on with the last answer, which was cut. */
export interface ClientChatContinue {
  type: 'chat_continue';
  /** Repeated in the answer. */
  request_id?: string | number | null;
  /** The thread. */
  thread_id: string;
}

/** Stop the turn that runs. */
export interface ClientChatStop {
  type: 'chat_stop';
  /** Repeated in the answer. */
  request_id?: string | number | null;
  /** The thread. */
  thread_id: string;
}

/** Follow a thread. */
export interface ClientChatSubscribe {
  type: 'chat_subscribe';
  /** Repeated in the answer. */
  request_id?: string | number | null;
  /** The thread. */
  thread_id: string;
  /** The last number the client has; -1 when it has none, absent when it wants nothing that was missed. */
  last_seq?: number | null;
}

/** Which turns run? */
export interface ClientChatTurns {
  type: 'chat_turns';
}

/** What may be done without asking. */
export interface ClientSetPermissionMode {
  type: 'set_permission_mode';
  /** Repeated in the answer. */
  request_id?: string | number | null;
  /** The thread. */
  thread_id: string;
  /** What is to hold. */
  permission_mode?: 'plan' | 'default' | 'auto' | null;
  /** The same. */
  mode?: 'plan' | 'default' | 'auto' | null;
}

/** Allow a call, or not. */
export interface ClientToolApprovalResponse {
  type: 'tool_approval_response';
  /** Repeated in the answer. */
  request_id?: string | number | null;
  /** What was asked. */
  approval_id: string;
  /** The answer. One of allow, allow_for_chat, deny, in any case. */
  decision: string;
}

/** The tools a client offers. */
export interface ClientUiManifest {
  type: 'ui_manifest';
  /** Repeated in the answer. */
  request_id?: string | number | null;
  /** The tools. */
  tools: {
    /** Its name. */
    name: string;
    /** What it does, for the model. */
    description?: string | null;
    /** A JSON Schema. */
    parameters?: unknown;
  }[];
}

/** What came of a client's tool. */
export interface ClientToolResult {
  type: 'tool_result';
  /** Repeated in the answer. */
  request_id?: string | number | null;
  /** The call. */
  tool_call_id: string;
  /** What it gave: a text, or anything else as JSON. */
  result: unknown;
  /** The thread, if it is known. */
  thread_id?: string | null;
  /** Whether it failed. */
  is_error?: boolean | null;
}

/** What each side of a link says about itself first. */
export interface ClientPeerHello {
  type: 'peer_hello';
  /** What it calls itself. */
  ensemble: string;
  /** The group it belongs to. */
  realm?: string | null;
  /** Which version of Consort it is. */
  version?: string | null;
  /** What others may use. */
  sharedCapabilities?: {
    /** Unique in its ensemble. */
    name: string;
    /** What it does, for the model. */
    description?: string;
    /** Tool or task. */
    type: 'TASK' | 'TOOL';
    /** What it is about. */
    tags?: string[];
    /** What its input must look like; absent: a text. */
    schema?: unknown;
    /** Which version of it this is. */
    version?: string | null;
    /** What doing it twice would mean; absent: it must not be done twice. */
    effect?: 'read' | 'idempotent' | 'once' | null;
    /** How long it may take. */
    timeoutMs?: number | null;
  }[];
  /** How often it says that it is there. */
  leaseMs?: number | null;
  /** Bytes of one frame that it takes. */
  maxFrameBytes?: number | null;
}

/** Do a shared task. */
export interface ClientTaskRequest {
  type: 'task_request';
  /** Unique to this intent: the same one is never done twice. */
  requestId: string;
  /** Who asks. */
  from: string;
  /** Which task. */
  task: string;
  /** What it is to know. */
  context?: string | null;
  /** What it goes before. */
  priority?: 'LOW' | 'NORMAL' | 'HIGH' | 'CRITICAL' | null;
  /** How long the asker waits. */
  deadline?: string | number | null;
  /** Where the answer goes. */
  delivery?:
    | {
      /** How: only `WEBSOCKET`, the link itself, is offered here. */
      method: string;
      /** Where to. */
      address?: string | null;
    }
    | null;
  /** The trace this belongs to. */
  traceContext?:
    | {
      /** The span that asks. */
      traceparent: string;
      /** What vendors add to it. */
      tracestate?: string | null;
    }
    | null;
  /** Whether an earlier answer will do. */
  cachePolicy?: 'USE_CACHED' | 'FORCE_FRESH' | null;
  /** What earlier answers are kept under. */
  cacheKey?: string | null;
  /** How long the answer may be kept. */
  maxAge?: string | number | null;
  /** The ensembles it came through, the first one first. */
  ancestors?: string[];
  /** How many more ensembles it may pass through. */
  hops?: number | null;
  /** What it may use. */
  budget?:
    | {
      /** Tokens, read and written. */
      tokens?: number | null;
      /** Money, in billionths of a dollar. */
      costNanoUsd?: number | null;
    }
    | null;
  /** Whether it was sent before: what is not known is then not begun. */
  resumed?: boolean;
}

/** Call a shared tool. */
export interface ClientToolRequest {
  type: 'tool_request';
  /** Unique to this intent: the same one is never done twice. */
  requestId: string;
  /** Who asks. */
  from: string;
  /** Which tool. */
  tool: string;
  /** What to call it with: a text, or an object that fits its schema. */
  input?: unknown;
  /** How long the asker waits. */
  deadline?: string | number | null;
  /** The trace this belongs to. */
  traceContext?:
    | {
      /** The span that asks. */
      traceparent: string;
      /** What vendors add to it. */
      tracestate?: string | null;
    }
    | null;
  /** The ensembles it came through, the first one first. */
  ancestors?: string[];
  /** How many more ensembles it may pass through. */
  hops?: number | null;
  /** What it may use. */
  budget?:
    | {
      /** Tokens, read and written. */
      tokens?: number | null;
      /** Money, in billionths of a dollar. */
      costNanoUsd?: number | null;
    }
    | null;
  /** Whether it was sent before: what is not known is then not begun. */
  resumed?: boolean;
}

/** The work is not wanted any more. */
export interface ClientRequestCancel {
  type: 'request_cancel';
  /** Which request. */
  requestId: string;
}

/** The work is taken on. */
export interface ClientTaskAccepted {
  type: 'task_accepted';
  /** Which request. */
  requestId: string;
  /** How many go before it. */
  queuePosition?: number | null;
  /** How long it may take. */
  estimatedCompletion?: string | number | null;
}

/** How far the work is. */
export interface ClientTaskProgress {
  type: 'task_progress';
  /** Which request. */
  requestId: string;
  /** In a word. */
  status?: string | null;
  /** In a sentence. */
  message?: string | null;
  /** As a number, from 0 to 100. */
  percentComplete?: number | null;
}

/** What came of the work. */
export interface ClientTaskResponse {
  type: 'task_response';
  /** Which request. */
  requestId: string;
  /** How it ended. */
  status: 'COMPLETED' | 'FAILED' | 'REJECTED' | 'IN_PROGRESS';
  /** What it gave. */
  result?: string | null;
  /** Why it gave nothing. */
  error?: string | null;
  /** How long it took. */
  durationMs?: number | null;
  /** Whether it may have had an effect although it gave nothing. */
  unknown?: boolean;
  /** What it used. */
  usage?:
    | {
      /** Tokens read. */
      inputTokens?: number;
      /** Tokens written. */
      outputTokens?: number;
      /** What reading cost, in billionths of a dollar. */
      inputCostNanoUsd?: number;
      /** What writing cost. */
      outputCostNanoUsd?: number;
    }
    | null;
}

/** What came of the work. */
export interface ClientToolResponse {
  type: 'tool_response';
  /** Which request. */
  requestId: string;
  /** How it ended. */
  status: 'COMPLETED' | 'FAILED' | 'REJECTED' | 'IN_PROGRESS';
  /** What it gave. */
  result?: string | null;
  /** Why it gave nothing. */
  error?: string | null;
  /** How long it took. */
  durationMs?: number | null;
  /** Whether it may have had an effect although it gave nothing. */
  unknown?: boolean;
  /** What it used. */
  usage?:
    | {
      /** Tokens read. */
      inputTokens?: number;
      /** Tokens written. */
      outputTokens?: number;
      /** What reading cost, in billionths of a dollar. */
      inputCostNanoUsd?: number;
      /** What writing cost. */
      outputCostNanoUsd?: number;
    }
    | null;
}

/** How busy an ensemble is. */
export interface ClientCapacityUpdate {
  type: 'capacity_update';
  /** Who. */
  ensemble: string;
  /** The group it belongs to. */
  realm?: string | null;
  /** Whether it takes work on. */
  status: 'available' | 'busy' | 'draining';
  /** How much of what it can do at once is taken, from 0 to 1. */
  currentLoad: number;
  /** How much it can do at once. */
  maxConcurrent: number;
  /** Whether ensembles of other realms may use it. */
  shareable: boolean;
}
