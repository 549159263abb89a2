// Made from schemas/frames.json by `npm run types`.

/** A frame of the server. */
export type ServerFrame =
  | ServerRunAccepted
  | ServerRunAdopted
  | ServerRunForked
  | ServerEnsembleStarted
  | ServerBeltComposed
  | ServerExpressionEvaluated
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
  | ServerBudgetRaised
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
  | ServerToolResultAck
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
  /** The order of its tasks. */
  workflow: 'SEQUENTIAL' | 'PARALLEL' | 'HIERARCHICAL';
  /** The number of tasks. */
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
    /** The condition under which it is done. */
    when?: string;
    /** The list of items for each of which it is done. */
    forEach?: string;
  }[];
  /** Groups of its tasks, as declared. */
  groups?: {
    /** Its name. */
    name: string;
    /** The numbers of its tasks, from 1. */
    tasks: number[];
    /** The condition under which they are done. */
    when?: string;
    /** The list of items for each of which they are done. */
    forEach?: string;
    /** The condition that ends their rounds. */
    repeatUntil?: string;
    /** The number of rounds they may take. */
    maxRounds?: number;
  }[];
};

/** A process has taken the run over; calls of the one before are lost. */
export type ServerRunAdopted = RunEvent & {
  type: 'run_adopted';
  /** Greater with each process that has the run, from 1. */
  epoch: number;
  /** The name of the node that has it now. */
  node?: string;
  /** The reason why it has it. */
  reason?: 'begun' | 'claimed' | 'takeover' | 'drained';
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
  /** The outputs of kept tasks that were put in place of those they had. */
  editedOutputs?: {
    /** The number of the task, from 1. */
    taskIndex: number;
    /** The name of the task. */
    taskName: string;
    /** The place of the task in the run. */
    turnId: string;
    /** The output that the tasks after it read. */
    output: string;
    /** The output as data, when the task has a schema. */
    parsedOutput?: unknown;
    /** The name of the requester. */
    by: string;
  }[];
};

/** The first task is about to begin. */
export type ServerEnsembleStarted = RunEvent & {
  type: 'ensemble_started';
  /** The id of this execution. */
  ensembleId: string;
  /** When it started. */
  startedAt: string;
  /** The number of tasks. */
  totalTasks: number;
  /** The order of its tasks. */
  workflow: 'SEQUENTIAL' | 'PARALLEL' | 'HIERARCHICAL';
};

/** The tools that a task's patterns stand for were looked up. */
export type ServerBeltComposed = Event & {
  type: 'belt_composed';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** The description of the task. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round 1. */
  turnId: string;
  /** The index of the item that the task is done for, from 0. */
  item?: number;
  /** The round of its group, from 0. */
  round?: number;
  /** The name of the task. */
  taskName?: string;
  /** The tools that were found. */
  toolNames: string[];
};

/** A condition or a list was evaluated, which happens once; what follows from it comes next. */
export type ServerExpressionEvaluated = Event & {
  type: 'expression_evaluated';
  /** The task, when it is a task's. */
  taskIndex?: number;
  /** The name of the task. */
  taskName?: string;
  /** The place of the task, or of its instance, in the run. */
  turnId?: string;
  /** The name of the group, when it is a group's. */
  group?: string;
  /** The index of the item that the task is done for, from 0. */
  item?: number;
  /** The round of the group, from 0; for `repeat_until` the one that was over. */
  round?: number;
  /** The key it is written under. */
  key: 'when' | 'for_each' | 'repeat_until';
  /** The expression. */
  expression: string;
  /** The value: true, false or the list; absent when the expression failed. */
  value?: unknown;
  /** The reason why it has no usable value. */
  error?: string;
};

/** A task has begun. */
export type ServerTaskStarted = Event & {
  type: 'task_started';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** The description of the task. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round 1. */
  turnId: string;
  /** The index of the item that the task is done for, from 0. */
  item?: number;
  /** The round of its group, from 0. */
  round?: number;
  /** The name of the task. */
  taskName?: string;
  /** The number of tasks of the run. */
  totalTasks: number;
  /** When it began. */
  startedAt: string;
};

/** The prompt of a task. */
export type ServerTaskInput = Event & {
  type: 'task_input';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** The description of the task. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round 1. */
  turnId: string;
  /** The index of the item that the task is done for, from 0. */
  item?: number;
  /** The round of its group, from 0. */
  round?: number;
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
  /** The description of the task. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round 1. */
  turnId: string;
  /** The index of the item that the task is done for, from 0. */
  item?: number;
  /** The round of its group, from 0. */
  round?: number;
  /** The name of the task. */
  taskName?: string;
  /** The purpose of the calls. */
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
  /** The description of the task. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round 1. */
  turnId: string;
  /** The index of the item that the task is done for, from 0. */
  item?: number;
  /** The round of its group, from 0. */
  round?: number;
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
  /** The description of the task. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round 1. */
  turnId: string;
  /** The index of the item that the task is done for, from 0. */
  item?: number;
  /** The round of its group, from 0. */
  round?: number;
  /** The round of the conversation, from 0. */
  iterationIndex: number;
  /** The alias of the model. */
  model: string;
  /** The newest messages it is sent. */
  messages: {
    /** The role of the author. */
    role: 'system' | 'user' | 'assistant' | 'tool';
    /** The text. */
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
  /** The number of messages that the model is sent. */
  totalMessageCount: number;
};

/** The same question is asked once more. */
export type ServerModelRetried = Event & {
  type: 'model_retried';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** The description of the task. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round 1. */
  turnId: string;
  /** The index of the item that the task is done for, from 0. */
  item?: number;
  /** The round of its group, from 0. */
  round?: number;
  /** The round of the conversation, from 0. */
  iterationIndex?: number;
  /** The alias of the model. */
  model?: string;
  /** The number of the attempt, from 1. */
  attempt: number;
};

/** A model has answered. */
export type ServerLlmIterationCompleted = Event & {
  type: 'llm_iteration_completed';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** The description of the task. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round 1. */
  turnId: string;
  /** The index of the item that the task is done for, from 0. */
  item?: number;
  /** The round of its group, from 0. */
  round?: number;
  /** The round of the conversation, from 0. */
  iterationIndex?: number;
  /** Whether it answers or wants tools called. */
  responseType: 'FINAL_ANSWER' | 'TOOL_CALLS';
  /** The text of the answer. */
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
  /** Tokens it read; -1 when unknown. */
  inputTokens: number;
  /** Tokens it wrote; -1 when unknown. */
  outputTokens: number;
  /** The duration of the model call. */
  latencyMs: number;
};

export type ServerAnswerTruncated =
  | RunEvent & {
    type: 'answer_truncated';
    /** The number of the task, from 1. */
    taskIndex: number;
    /** The role of the agent. */
    agentRole: string;
    /** The description of the task. */
    taskDescription: string;
    /** The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round 1. */
    turnId: string;
    /** The index of the item that the task is done for, from 0. */
    item?: number;
    /** The round of its group, from 0. */
    round?: number;
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
    /** The call that the subtask is; null for the turn itself. */
    parent_id: string | null;
    /** The nesting depth of the subtask. */
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
    /** The description of the task. */
    taskDescription: string;
    /** The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round 1. */
    turnId: string;
    /** The index of the item that the task is done for, from 0. */
    item?: number;
    /** The round of its group, from 0. */
    round?: number;
    /** The round of the conversation, from 0. */
    iterationIndex?: number;
    /** The alias of the model. */
    model?: string;
    /** The step that follows. */
    then: 'continue' | 'fail' | 'accept';
  }
  | ChatEvent & {
    type: 'answer_empty';
    /** The call that the subtask is; null for the turn itself. */
    parent_id: string | null;
    /** The nesting depth of the subtask. */
    depth: number;
    /** The model call. */
    call_id: string;
    /** The step that follows. */
    then: 'continue' | 'fail' | 'accept';
  };

/** The usage of a task so far. */
export type ServerMetricsSnapshot = Event & {
  type: 'metrics_snapshot';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** The description of the task. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round 1. */
  turnId: string;
  /** The index of the item that the task is done for, from 0. */
  item?: number;
  /** The round of its group, from 0. */
  round?: number;
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
  /** The description of the task. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round 1. */
  turnId: string;
  /** The index of the item that the task is done for, from 0. */
  item?: number;
  /** The round of its group, from 0. */
  round?: number;
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
  /** The error message. */
  message: string;
  /** The step that follows. */
  then:
    | {
      action: 'retry';
      /** The time. */
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
  /** The description of the task. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round 1. */
  turnId: string;
  /** The index of the item that the task is done for, from 0. */
  item?: number;
  /** The round of its group, from 0. */
  round?: number;
  /** The round of the conversation, from 0. */
  iterationIndex?: number;
  /** The alias of the model. */
  model?: string;
  /** The number of exchanges that were dropped. */
  exchanges: number;
};

/** The output breaks its schema and is sent back. */
export type ServerOutputRejected = Event & {
  type: 'output_rejected';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** The description of the task. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round 1. */
  turnId: string;
  /** The index of the item that the task is done for, from 0. */
  item?: number;
  /** The round of its group, from 0. */
  round?: number;
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
  /** The description of the task. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round 1. */
  turnId: string;
  /** The index of the item that the task is done for, from 0. */
  item?: number;
  /** The round of its group, from 0. */
  round?: number;
  /** The round of the conversation, from 0. */
  iterationIndex?: number;
  /** The alias of the model. */
  model?: string;
};

/** The model has repeated the same failing call, and is notified of it. */
export type ServerLoopNoticed = Event & {
  type: 'loop_noticed';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** The description of the task. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round 1. */
  turnId: string;
  /** The index of the item that the task is done for, from 0. */
  item?: number;
  /** The round of its group, from 0. */
  round?: number;
  /** The round of the conversation, from 0. */
  iterationIndex?: number;
  /** The alias of the model. */
  model?: string;
  /** The tool it called. */
  toolName: string;
  /** The number of times it was called. */
  times: number;
};

/** Another ensemble has reported the cost of a call. */
export type ServerCallCharged = Event & {
  type: 'call_charged';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** The description of the task. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round 1. */
  turnId: string;
  /** The index of the item that the task is done for, from 0. */
  item?: number;
  /** The round of its group, from 0. */
  round?: number;
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
  /** The description of the task. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round 1. */
  turnId: string;
  /** The index of the item that the task is done for, from 0. */
  item?: number;
  /** The round of its group, from 0. */
  round?: number;
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
  /** The description of the task. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round 1. */
  turnId: string;
  /** The index of the item that the task is done for, from 0. */
  item?: number;
  /** The round of its group, from 0. */
  round?: number;
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
  /** The description of the task. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round 1. */
  turnId: string;
  /** The index of the item that the task is done for, from 0. */
  item?: number;
  /** The round of its group, from 0. */
  round?: number;
  /** The call, and from now on the subtask. */
  callId: string;
  /** Its title. */
  title: string;
  /** The instructions for its model. */
  instructions: string;
  /** The tools it may call. */
  toolNames: string[];
  /** The nesting depth, from 1. */
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

/** An agent has done the work it was handed. */
export type ServerDelegationCompleted = Event & {
  type: 'delegation_completed';
  /** The call that handed it over. */
  delegationId: string;
  /** The role of the agent that handed it over. */
  delegatingAgentRole?: string;
  /** The role of the agent that does it. */
  workerRole: string;
  /** The duration. */
  durationMs: number;
};

/** An agent has failed, or could not be handed work. */
export type ServerDelegationFailed = Event & {
  type: 'delegation_failed';
  /** The call that handed it over. */
  delegationId: string;
  /** The role of the agent that handed it over. */
  delegatingAgentRole?: string;
  /** The role of the agent that does it. */
  workerRole: string;
  /** The reason. */
  reason: string;
};

/** A call has returned. */
export type ServerToolCalled = RunEvent & {
  type: 'tool_called';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** The description of the task. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round 1. */
  turnId: string;
  /** The index of the item that the task is done for, from 0. */
  item?: number;
  /** The round of its group, from 0. */
  round?: number;
  /** The call. */
  callId: string;
  /** The tool. */
  toolName: string;
  /** The duration. */
  durationMs: number;
  /** Whether it worked. */
  outcome: 'SUCCESS' | 'FAILURE';
  /** The arguments, as the model wrote them. */
  toolArguments: string;
  /** The result in words. */
  toolResult: string;
  /** The result as data, where the tool has one. */
  structuredResult: unknown;
  /** `TOOL_TIMEOUT` when the tool took longer than its own limit. */
  error?: 'TOOL_TIMEOUT';
};

/** A call has changed a file. */
export type ServerFileChanged = Event & {
  type: 'file_changed';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** The description of the task. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round 1. */
  turnId: string;
  /** The index of the item that the task is done for, from 0. */
  item?: number;
  /** The round of its group, from 0. */
  round?: number;
  /** The file, as the tool names it. */
  filePath: string;
  /** The kind of change. */
  changeType: 'CREATED' | 'MODIFIED' | 'DELETED';
  /** Lines it has now and did not have. */
  linesAdded: number;
  /** Lines it had and does not have now. */
  linesRemoved: number;
  /** The call. */
  callId: string;
  /** The time. */
  timestamp: string;
};

/** Something waits for a person. */
export type ServerReviewRequested = Event & {
  type: 'review_requested';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** The description of the task. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round 1. */
  turnId: string;
  /** The index of the item that the task is done for, from 0. */
  item?: number;
  /** The round of its group, from 0. */
  round?: number;
  /** The name of the task. */
  taskName?: string;
  /** The id to decide it by. */
  reviewId: string;
  /** The output that is reviewed; empty before the task. */
  taskOutput: string;
  /** Whether that output was cut at the output limit and accepted as it is. */
  truncated?: boolean;
  /** Before, while or after the task is done. */
  timing: 'BEFORE_EXECUTION' | 'DURING_EXECUTION' | 'AFTER_EXECUTION';
  /** The time for which it waits; 0 means without limit. */
  timeoutMs: number;
  /** The step that follows when nobody decides in time. */
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
  /** The name of the caller that decided. */
  by: string;
  /** The output that counts instead. */
  revisedOutput?: string;
  /** The improvements that the reviewer asks for. */
  feedback?: string;
};

/** Nobody decided in time. */
export type ServerReviewTimedOut = Event & {
  type: 'review_timed_out';
  /** The review. */
  reviewId: string;
  /** The step that follows. */
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
  /** The description of the task. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round 1. */
  turnId: string;
  /** The index of the item that the task is done for, from 0. */
  item?: number;
  /** The round of its group, from 0. */
  round?: number;
  /** The name of the task. */
  taskName?: string;
  /** The number of tasks of the run. */
  totalTasks: number;
  /** When it was done. */
  completedAt: string;
  /** The duration of the task. */
  durationMs: number;
  /** Tokens it used; -1 when unknown. */
  tokenCount: number;
  /** Tool calls it made. */
  toolCallCount: number;
  /** The output. */
  output?: string;
  /** The output as data, where the task has a schema. */
  parsedOutput?: unknown;
  /** True when the output was cut at the output limit and is accepted as it is. */
  truncated?: boolean | null;
};

/** A task has failed or was stopped. */
export type ServerTaskFailed = Event & {
  type: 'task_failed';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** The description of the task. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round 1. */
  turnId: string;
  /** The index of the item that the task is done for, from 0. */
  item?: number;
  /** The round of its group, from 0. */
  round?: number;
  /** The name of the task. */
  taskName?: string;
  /** The time. */
  failedAt: string;
  /** The reason. */
  reason: string;
  /** True when it was stopped. */
  cancelled?: boolean;
  /** The text of the answer so far when it failed. */
  partialOutput?: string;
};

/** A task will not run. */
export type ServerTaskSkipped = Event & {
  type: 'task_skipped';
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** The description of the task. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round 1. */
  turnId: string;
  /** The index of the item that the task is done for, from 0. */
  item?: number;
  /** The round of its group, from 0. */
  round?: number;
  /** The name of the task. */
  taskName?: string;
  /** The reason, in words. */
  reason: string;
  /** The reason, as one word: only after `condition` do the tasks that read it go on. */
  cause: 'condition' | 'upstream' | 'ended';
};

export type ServerDirectiveActive =
  | Event & {
    type: 'directive_active';
    /** Its id. */
    directiveId: string;
    /** The name of the author. */
    from: string;
    /** The text. */
    content: string;
    /** The task or role it is for; all when absent. */
    target?: string | null;
    /** The priority: more important directives are read first. */
    priority: 'LOW' | 'NORMAL' | 'HIGH';
    /** When it expires. */
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
    /** The action. */
    action: string;
    /** The tier. */
    value: string;
    /** The person that the sender says it speaks for. */
    onBehalfOf?: string;
  };

/** An agent reads a directive with its next model call. */
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
  /** The name of the caller that switched the model. */
  by: string;
};

/** A person wants the run to stop. */
export type ServerCancelRequested = Event & {
  type: 'cancel_requested';
  /** The point at which the run stops. */
  mode: 'after_task' | 'after_iteration' | 'now';
  /** The name of the caller that cancels it. */
  by: string;
};

/** Nothing new is begun until the run is resumed. */
export type ServerRunPaused = Event & {
  type: 'run_paused';
  /** The name of the caller that paused it. */
  by: string;
};

/** The run goes on. */
export type ServerRunResumed = Event & {
  type: 'run_resumed';
  /** The name of the caller that resumed it. */
  by: string;
};

/** Some of the run's limits were raised. */
export type ServerBudgetRaised = Event & {
  type: 'budget_raised';
  /** The limits from now on. */
  limits: {
    maxTotalSubtasks?: number;
    maxTotalLlmCalls?: number;
    maxTotalToolCalls?: number;
    maxWallClockMs?: number;
    maxTotalTokens?: number;
    maxCostUsd?: number;
  };
  /** The name of the caller that raised them. */
  by: string;
};

/** The next step would pass a limit. */
export type ServerBudgetExceeded = Event & {
  type: 'budget_exceeded';
  /** The limit. */
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
  /** The duration of the run. */
  durationMs: number;
  /** The reason why it ended. */
  exitReason: 'COMPLETED' | 'USER_EXIT_EARLY' | 'TIMEOUT' | 'ERROR' | 'CANCELLED';
  /** Tokens used; -1 when unknown. */
  totalTokens: number;
  /** Tool calls made. */
  totalToolCalls: number;
  /** The reason why it failed. */
  error?: string;
};

/** A process has taken the turn over; calls of the one before are lost. */
export type ServerTurnAdopted = ChatEvent & {
  type: 'turn_adopted';
  /** Greater with each process that has the turn, from 1. */
  epoch: number;
  /** The name of the node that has it now. */
  node?: string;
  /** The reason why it has it. */
  reason?: 'begun' | 'claimed' | 'takeover' | 'drained';
};

/** The turn begins. */
export type ServerTurnStarted = ChatEvent & {
  type: 'turn_started';
  /** The alias of its model. */
  model: string;
  /** The permission mode: the calls that may be made without asking. */
  permission_mode: 'plan' | 'default' | 'auto';
};

/** A model is asked. */
export type ServerLlmStarted = ChatEvent & {
  type: 'llm_started';
  /** The call that the subtask is; null for the turn itself. */
  parent_id: string | null;
  /** The nesting depth of the subtask. */
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
  /** The call that the subtask is; null for the turn itself. */
  parent_id: string | null;
  /** The nesting depth of the subtask. */
  depth: number;
  /** The model call. */
  call_id: string;
  /** The text of the answer. */
  content: string;
};

/** A model did not answer; its text so far does not count. */
export type ServerLlmVoided = ChatEvent & {
  type: 'llm_voided';
  /** The call that the subtask is; null for the turn itself. */
  parent_id: string | null;
  /** The nesting depth of the subtask. */
  depth: number;
  /** The model call. */
  call_id: string;
  /** The error message. */
  message: string;
  /** The step that follows. */
  then: 'retry' | 'fallback' | 'shorten' | 'give_up';
};

/** A row of the chat. */
export type ServerMessage = ChatEvent & {
  type: 'message';
  /** Its id. */
  id: string;
  /** The role of the author. */
  role: 'user' | 'assistant' | 'tool';
  /** The text. */
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
  /** The reason for a failed turn, beside the text of its answer. */
  error: string | null;
  /** Whether it is an answer that was cut at the output limit. */
  truncated: boolean;
  /** The id of the row it goes on with, which was cut. */
  continues: string | null;
  /** The files that the user attached. */
  attachments?: {
    /** The id of the attachment. */
    id: string;
    /** The name of the file. */
    name: string;
    /** The type of the file. */
    media_type: string;
    /** The size of the file in bytes. */
    bytes: number;
  }[];
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
        /** The duration. */
        duration_ms: number;
      }[];
    }
    | null;
  /** When it was stored. */
  created_at: string;
  /** The call that the subtask is; null for the turn itself. */
  parent_id: string | null;
  /** The nesting depth of the subtask. */
  depth: number;
  /** The model call that made it. */
  call_id?: string;
};

/** A tool call begins or has ended. */
export type ServerToolCallUpdate = ChatEvent & ({
  type: 'tool_call_update';
  /** The call that the subtask is; null for the turn itself. */
  parent_id: string | null;
  /** The nesting depth of the subtask. */
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
  /** Whether it begins or has ended. */
  status: 'start' | 'end';
  /** The title of a subtask, at its beginning. */
  message?: string | null;
  /** The duration, at its end. */
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
  /** The call that the subtask is; null for the turn itself. */
  parent_id: string | null;
  /** The nesting depth of the subtask. */
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
  /** The call that the subtask is; null for the turn itself. */
  parent_id: string | null;
  /** The nesting depth of the subtask. */
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
  /** The reason for the question. */
  reason: 'effect' | 'taint' | 'instructions';
  /** The host, or the name of the MCP server or peer, that the arguments would go to. */
  host: string | null;
  /** The size of the arguments in bytes. */
  bytes: number;
  /** The sources that the chat has read and its user did not write, where they are the reason for the question. */
  sources: string[];
  /** When it was asked. */
  created_at: string;
  /** When it counts as denied. */
  expires_at: string | null;
};

/** The question for permission is decided. */
export type ServerToolApprovalResolved = ChatEvent & {
  type: 'tool_approval_resolved';
  /** Its id. */
  approval_id: string;
  /** The decision. */
  decision: 'allow' | 'allow_for_chat' | 'deny' | 'expired' | 'closed';
  /** The name of the caller that decided. */
  by: string;
  /** The arguments that the caller put in the place of the model's. */
  args?: unknown;
};

/** A permission for the rest of the chat was taken back. */
export type ServerGrantWithdrawn = ChatEvent & {
  type: 'grant_withdrawn';
  /** The grant. */
  grant_id: string;
  /** The name of the caller that took it back. */
  by: string;
};

/** The permission mode of the turn was changed. */
export type ServerPermissionModeChanged = ChatEvent & {
  type: 'permission_mode_changed';
  /** The new permission mode. */
  permission_mode: 'plan' | 'default' | 'auto';
  /** The name of the caller that changed it. */
  by: string;
};

/** A workflow is being drawn. */
export type ServerPlanningUpdate = ChatEvent & {
  type: 'planning_update';
  /** The call that the subtask is; null for the turn itself. */
  parent_id: string | null;
  /** The nesting depth of the subtask. */
  depth: number;
  /** The stage of drawing. */
  phase: 'planning' | 'validation';
  /** The progress of that stage. */
  status: 'start' | 'end' | 'failed';
  /** The progress in words. */
  content: string;
};

/** A task of a workflow was planned, begun or ended. */
export type ServerTaskUpdate = ChatEvent & {
  type: 'task_update';
  /** The call that the subtask is; null for the turn itself. */
  parent_id: string | null;
  /** The nesting depth of the subtask. */
  depth: number;
  /** The change. */
  event: 'planned' | 'started' | 'completed' | 'skipped' | 'failed';
  /** The task. */
  task: {
    /** Its name. */
    name?: string | null;
    /** The work to do. */
    description?: string | null;
    /** The tools it may call. */
    tools?: string[] | null;
    /** The tasks it reads from. */
    context?: string[] | null;
    /** Its output. */
    output?: string | null;
    /** The reason why it was skipped or failed. */
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
    /** The error code. */
    code: string;
    /** The error message. */
    message: string;
    /** The status of the provider's answer, when that was the trouble. */
    status_code?: number;
  }
  | {
    type: 'error';
    /** The code, for programs. */
    code: string;
    /** The message, for people. */
    message: string;
    /** When to try again; also the header `Retry-After`. */
    retryAfterMs?: number;
    /** The status of the run, when it is the reason. */
    runStatus?: 'ACCEPTED' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'REJECTED';
    /** The decision that was made before. */
    decision?: string;
    /** The name of who made it; absent where nobody did, such as at a timeout. */
    decidedBy?: string;
    /** The time at which it was made. */
    decidedAt?: string;
    /** The turn that runs. */
    turnId?: string;
    /** Everything that is wrong with a request. */
    mistakes?: {
      /** Kinds of mistakes, with the names they have on the wire. */
      error:
        | 'BAD_REQUEST'
        | 'INVALID_TOOL'
        | 'INVALID_MODEL'
        | 'MODEL_CANNOT_SEE'
        | 'INVALID_TASK_OVERRIDE'
        | 'CIRCULAR_DEPENDENCY'
        | 'MISSING_INPUT'
        | 'INVALID_SCHEMA'
        | 'INVALID_EXPRESSION'
        | 'TEMPLATE_TOO_LARGE'
        | 'NOT_CONFIGURED'
        | 'media_generation_unavailable';
      /** A path into the request. */
      place: string;
      message: string;
    }[];
    /** The version there is now. */
    version?: number;
    /** The fields of the request that are unknown. */
    warnings?: string[];
    /** The id from the request. */
    requestId?: string | number;
    /** The id from the request, in the spelling of the chat's frames. */
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
    /** Always empty. */
    content: string;
    /** Always true. */
    done: true;
    /** The call that the subtask is; null for the turn itself. */
    parent_id: string | null;
    /** The nesting depth of the subtask. */
    depth: number;
    /** The final status. */
    status: 'ACCEPTED' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'REJECTED';
  }
  | {
    type: 'chunk';
    /** The thread. */
    thread_id: string;
    /** The turn. */
    turn_id: string;
    /** The call that the subtask is; null for the turn itself. */
    parent_id: string | null;
    /** The nesting depth of the subtask. */
    depth: number;
    /** The model call. */
    call_id: string;
    /** The text. */
    content: string;
    /** The position of the words in the answer, or in the model's reasoning, in bytes. */
    offset: number;
    /** True when they are reasoning and no part of the answer. */
    thinking?: true;
    /** The number of the frame they follow. */
    chat_seq: number;
  };

/** The usage of the turn. */
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
  /** The time of work. */
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
    /** Whether it did not report all of its tokens: then there were more. */
    tokens_unknown?: boolean;
  }[];
  /** Models without a price. */
  unpriced_models: string[];
  /** Whether a model did not report all of its tokens: then there were more. */
  tokens_unknown?: boolean;
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
  /** The description of the task. */
  taskDescription: string;
  /** The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round 1. */
  turnId: string;
  /** The index of the item that the task is done for, from 0. */
  item?: number;
  /** The round of its group, from 0. */
  round?: number;
  /** The text. */
  token: string;
  /** The position of the text in the answer, in bytes. Whoever joins while a model answers gets all of it so
  far, from 0. */
  offset: number;
  /** When they came. */
  sentAt: string;
}

/** The progress of a call. */
export type ServerToolProgress = {
  type: 'tool_progress';
  /** The progress as one word. */
  status?: string;
  /** The progress as a sentence. */
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
    /** The description of the task. */
    taskDescription: string;
    /** The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round 1. */
    turnId: string;
    /** The index of the item that the task is done for, from 0. */
    item?: number;
    /** The round of its group, from 0. */
    round?: number;
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
    /** The call that the subtask is; null for the turn itself. */
    parent_id: string | null;
    /** The nesting depth of the subtask. */
    depth: number;
    /** The call. */
    tool_call_id: string;
    /** The tool. */
    name: string;
  });

/** The result of a run; it follows the last event. */
export interface ServerRunResult {
  type: 'run_result';
  /** The run. */
  runId: string;
  /** The final status. */
  status: 'ACCEPTED' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'REJECTED';
  /** The outputs of its tasks, in the order in which they completed. */
  outputs: {
    /** The name of the task. */
    taskName: string;
    /** The output. */
    output: string;
    /** The duration of the task. */
    durationMs: number;
    /** The output as data, when the task has a schema. */
    parsedOutput?: unknown;
    /** Whether the output was cut at the output limit and accepted as it is. */
    truncated?: boolean;
    /** The task ended in the run that this one goes on from. */
    inherited?: true;
    /** The requester who gave it another output when this run was made of another. */
    outputEditedBy?: string;
  }[];
  /** The duration of the run. */
  durationMs: number;
  /** The usage of the run. */
  metrics: {
    totalTokens: number;
    totalToolCalls: number;
    /** Tokens read; -1 when some model did not report it. */
    inputTokens: number;
    /** Tokens written; -1 when some model did not report it. */
    outputTokens: number;
    cachedInputTokens: number;
    reasoningTokens: number;
    llmCalls: number;
    subtasks: number;
    llmLatencyMs: number;
    toolExecutionTimeMs: number;
    /** The cost, in dollars. */
    costEstimate?: {
      inputCost: number;
      outputCost: number;
    };
    /** Models without a price, when the cost is not known. */
    unpriced?: string[];
  };
  /** The output of the run: the last of `outputs`, in a hierarchy the manager's answer; null unless it completed. */
  output: string | null;
  /** `output` as data, when its task has a schema. */
  parsedOutput?: unknown;
  /** The reason why it failed. */
  error?: string;
}

/** The first frame: the current state. */
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
  /** The capabilities that others may use. */
  sharedCapabilities: {
    /** The name, unique in its ensemble. */
    name: string;
    /** The description for the model. */
    description: string;
    /** Tool or task. */
    type: 'TASK' | 'TOOL';
    /** Words that it is found by. */
    tags: string[];
    /** The JSON Schema of its input; absent: the input is a text. */
    schema?: unknown;
    /** The version. */
    version?: string;
    /** The effect of doing it twice; absent: it must not be done twice. */
    effect?: 'read' | 'idempotent' | 'once';
    /** The time it may take. */
    timeoutMs?: number;
  }[];
  /** The interval at which it reports that it is alive. */
  leaseMs: number;
  /** The size of the largest frame that is accepted here, in bytes. */
  maxFrameBytes: number;
  /** Whether something was left out. */
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
  /** The time of the server's clock. */
  serverTimeMs: number;
}

/** The answer to `ping`. */
export interface ServerPong {
  type: 'pong';
  /** The id from the request. */
  requestId?: string | number;
  /** The fields of the request that were ignored. */
  warnings?: string[];
}

/** The key was accepted. */
export interface ServerAuthAck {
  type: 'auth_ack';
  /** The id from the request. */
  requestId?: string | number;
  /** The fields of the request that were ignored. */
  warnings?: string[];
  /** The name of the key. */
  name: string;
}

/** The subscription that holds from now on. */
export interface ServerSubscribeAck {
  type: 'subscribe_ack';
  /** The id from the request. */
  requestId?: string | number;
  /** The fields of the request that were ignored. */
  warnings?: string[];
  /** The types of frames; `*` is all of them. */
  events: string[];
  /** Only frames of this run. */
  runId?: string;
}

/** The answer to `run_request`. */
export interface ServerRunAck {
  type: 'run_ack';
  /** The id from the request. */
  requestId?: string | number;
  /** The id of the run; one for which there was no room has an id and nothing else. */
  runId?: string;
  /** Whether it was accepted. */
  status: 'ACCEPTED' | 'REJECTED';
  /** Whether it was a dry run: nothing was started. */
  dryRun?: boolean;
  /** The number of tasks. */
  tasks: number;
  /** The order of its tasks. */
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
    /** The condition under which it would run. */
    when?: string;
    /** The list of items for each of which it would run. */
    forEach?: string;
    /** The group it is in. */
    group?: string;
  }[];
  /** The fields of the request that are unknown. */
  warnings?: string[];
  /** The reason why it was not accepted, for programs. */
  error?:
    | 'ANSWER_FAILED'
    | 'APPROVAL_NOT_FOUND'
    | 'APPROVAL_PENDING'
    | 'APPROVAL_RESOLVED'
    | 'ATTACHMENT_NOT_FOUND'
    | 'ATTACHMENT_USED'
    | 'BAD_REQUEST'
    | 'BUDGET_EXCEEDED'
    | 'CANCELLED'
    | 'CIRCULAR_DEPENDENCY'
    | 'COLLECTION_EXISTS'
    | 'COLLECTION_NOT_FOUND'
    | 'CONCURRENCY_LIMIT'
    | 'CONFLICT'
    | 'DELIVERY_NOT_FOUND'
    | 'DOCUMENT_NOT_FOUND'
    | 'DRAINING'
    | 'EXPRESSION_FAILED'
    | 'FORBIDDEN'
    | 'GRANT_NOT_FOUND'
    | 'HOOK_NOT_FOUND'
    | 'IDEMPOTENCY_CONFLICT'
    | 'INTERNAL_ERROR'
    | 'INVALID_EXPRESSION'
    | 'INVALID_INPUT'
    | 'INVALID_MODEL'
    | 'INVALID_SCHEMA'
    | 'INVALID_TASK_OVERRIDE'
    | 'INVALID_TOOL'
    | 'LIMIT_REACHED'
    | 'METHOD_NOT_ALLOWED'
    | 'MISSING_INPUT'
    | 'MODEL_CANNOT_SEE'
    | 'MODEL_NOT_FOUND'
    | 'NOTHING_TO_CONTINUE'
    | 'NOT_CONFIGURED'
    | 'NOT_FOUND'
    | 'OUTCOME_UNKNOWN'
    | 'PAYLOAD_TOO_LARGE'
    | 'PRECONDITION_FAILED'
    | 'PRECONDITION_REQUIRED'
    | 'PREVIOUS_RESPONSE_NOT_FOUND'
    | 'QUOTA_EXCEEDED'
    | 'REJECTED_TOO_OFTEN'
    | 'REQUEST_TIMEOUT'
    | 'REVIEW_NOT_FOUND'
    | 'REVIEW_RESOLVED'
    | 'RUN_ACTIVE'
    | 'RUN_COMPLETED'
    | 'RUN_NOT_FOUND'
    | 'SCHEDULE_NOT_FOUND'
    | 'STARTING'
    | 'STORAGE_DAMAGED'
    | 'STORAGE_UNAVAILABLE'
    | 'TEMPLATE_TOO_LARGE'
    | 'THREAD_BUSY'
    | 'THREAD_NOT_FOUND'
    | 'TOOL_NOT_FOUND'
    | 'TOO_MANY_REFUSALS'
    | 'TURN_NOT_RUNNING'
    | 'UNAUTHORIZED'
    | 'UNAVAILABLE'
    | 'UNSUPPORTED_MEDIA_TYPE'
    | 'VERSION_NOT_FOUND'
    | 'WEBHOOK_NOT_FOUND'
    | 'WORKFLOW_NOT_FOUND'
    | 'media_generation_unavailable';
  /** The reason why it was not accepted, for people. */
  message?: string;
  /** When to try again; also the header `Retry-After`. */
  retryAfterMs?: number;
  /** The status of the run, when it is the reason. */
  runStatus?: 'ACCEPTED' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'REJECTED';
  /** The decision that was made before. */
  decision?: string;
  /** The name of who made it; absent where nobody did, such as at a timeout. */
  decidedBy?: string;
  /** The time at which it was made. */
  decidedAt?: string;
  /** The turn that runs. */
  turnId?: string;
  /** Everything that is wrong with a request. */
  mistakes?: {
    /** Kinds of mistakes, with the names they have on the wire. */
    error:
      | 'BAD_REQUEST'
      | 'INVALID_TOOL'
      | 'INVALID_MODEL'
      | 'MODEL_CANNOT_SEE'
      | 'INVALID_TASK_OVERRIDE'
      | 'CIRCULAR_DEPENDENCY'
      | 'MISSING_INPUT'
      | 'INVALID_SCHEMA'
      | 'INVALID_EXPRESSION'
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

/** The answer to `run_control`. */
export type ServerRunControlAck = {
  type: 'run_control_ack';
  /** The id from the request. */
  requestId?: string | number;
  /** The fields of the request that were ignored. */
  warnings?: string[];
  /** The run. */
  runId: string;
  /** The action that was asked for. */
  action: string;
} & (
  | {
    /** The alias of the model it asks now. */
    model: string;
    /** The alias of the one it asked before. */
    previousModel?: string;
    /** The change is applied. */
    status: 'APPLIED';
  }
  | {
    /** The result. */
    status:
      | 'CANCELLING'
      | 'PAUSED'
      | 'RESUMED'
      | 'GIVEN_UP'
      | 'RAISED'
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
  /** The id from the request. */
  requestId?: string | number;
  /** The fields of the request that were ignored. */
  warnings?: string[];
  /** The body of the HTTP answer. */
  data: Record<string, unknown>;
}

/** The decision was accepted. */
export interface ServerReviewDecisionAck {
  type: 'review_decision_ack';
  /** The id from the request. */
  requestId?: string | number;
  /** The fields of the request that were ignored. */
  warnings?: string[];
  reviewId: string;
  decision: string;
  /** The status of a change that is applied. */
  status: 'APPLIED';
}

/** The answer to `directive`. */
export type ServerDirectiveAck = {
  type: 'directive_ack';
  /** The id from the request. */
  requestId?: string | number;
  /** The fields of the request that were ignored. */
  warnings?: string[];
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
    /** The reason, for programs. */
    error:
      | 'ANSWER_FAILED'
      | 'APPROVAL_NOT_FOUND'
      | 'APPROVAL_PENDING'
      | 'APPROVAL_RESOLVED'
      | 'ATTACHMENT_NOT_FOUND'
      | 'ATTACHMENT_USED'
      | 'BAD_REQUEST'
      | 'BUDGET_EXCEEDED'
      | 'CANCELLED'
      | 'CIRCULAR_DEPENDENCY'
      | 'COLLECTION_EXISTS'
      | 'COLLECTION_NOT_FOUND'
      | 'CONCURRENCY_LIMIT'
      | 'CONFLICT'
      | 'DELIVERY_NOT_FOUND'
      | 'DOCUMENT_NOT_FOUND'
      | 'DRAINING'
      | 'EXPRESSION_FAILED'
      | 'FORBIDDEN'
      | 'GRANT_NOT_FOUND'
      | 'HOOK_NOT_FOUND'
      | 'IDEMPOTENCY_CONFLICT'
      | 'INTERNAL_ERROR'
      | 'INVALID_EXPRESSION'
      | 'INVALID_INPUT'
      | 'INVALID_MODEL'
      | 'INVALID_SCHEMA'
      | 'INVALID_TASK_OVERRIDE'
      | 'INVALID_TOOL'
      | 'LIMIT_REACHED'
      | 'METHOD_NOT_ALLOWED'
      | 'MISSING_INPUT'
      | 'MODEL_CANNOT_SEE'
      | 'MODEL_NOT_FOUND'
      | 'NOTHING_TO_CONTINUE'
      | 'NOT_CONFIGURED'
      | 'NOT_FOUND'
      | 'OUTCOME_UNKNOWN'
      | 'PAYLOAD_TOO_LARGE'
      | 'PRECONDITION_FAILED'
      | 'PRECONDITION_REQUIRED'
      | 'PREVIOUS_RESPONSE_NOT_FOUND'
      | 'QUOTA_EXCEEDED'
      | 'REJECTED_TOO_OFTEN'
      | 'REQUEST_TIMEOUT'
      | 'REVIEW_NOT_FOUND'
      | 'REVIEW_RESOLVED'
      | 'RUN_ACTIVE'
      | 'RUN_COMPLETED'
      | 'RUN_NOT_FOUND'
      | 'SCHEDULE_NOT_FOUND'
      | 'STARTING'
      | 'STORAGE_DAMAGED'
      | 'STORAGE_UNAVAILABLE'
      | 'TEMPLATE_TOO_LARGE'
      | 'THREAD_BUSY'
      | 'THREAD_NOT_FOUND'
      | 'TOOL_NOT_FOUND'
      | 'TOO_MANY_REFUSALS'
      | 'TURN_NOT_RUNNING'
      | 'UNAUTHORIZED'
      | 'UNAVAILABLE'
      | 'UNSUPPORTED_MEDIA_TYPE'
      | 'VERSION_NOT_FOUND'
      | 'WEBHOOK_NOT_FOUND'
      | 'WORKFLOW_NOT_FOUND'
      | 'media_generation_unavailable';
    /** The reason, for people. */
    message: string;
    /** There is none. */
    directiveId: null;
  });

/** The shared capabilities. */
export interface ServerCapabilityResponse {
  type: 'capability_response';
  /** The id from the request. */
  requestId?: string | number;
  /** The fields of the request that were ignored. */
  warnings?: string[];
  /** The ensemble that shares it. */
  ensemble: string;
  /** The capabilities that match. */
  capabilities: {
    /** The name, unique in its ensemble. */
    name: string;
    /** The description for the model. */
    description: string;
    /** Tool or task. */
    type: 'TASK' | 'TOOL';
    /** Words that it is found by. */
    tags: string[];
    /** The JSON Schema of its input; absent: the input is a text. */
    schema?: unknown;
    /** The version. */
    version?: string;
    /** The effect of doing it twice; absent: it must not be done twice. */
    effect?: 'read' | 'idempotent' | 'once';
    /** The time it may take. */
    timeoutMs?: number;
  }[];
}

/** A message was accepted. */
export interface ServerChatAck {
  type: 'chat_ack';
  /** The id from the request. */
  request_id?: string | number;
  /** The fields of the request that were ignored. */
  warnings?: string[];
  /** The thread. */
  thread_id: string;
  /** The turn. */
  turn_id: string;
  /** The number of its first frame, when it has begun. */
  seq?: number;
  /** The number of messages before it in the queue, when it waits. */
  queue_position?: number;
}

/** A turn will stop. */
export interface ServerChatStopped {
  type: 'chat_stopped';
  /** The id from the request. */
  request_id?: string | number;
  /** The fields of the request that were ignored. */
  warnings?: string[];
  /** The thread. */
  thread_id: string;
  /** The turn. */
  turn_id: string;
}

/** The missed frames follow. */
export interface ServerChatResumed {
  type: 'chat_resumed';
  /** The id from the request. */
  request_id?: string | number;
  /** The fields of the request that were ignored. */
  warnings?: string[];
  /** The thread. */
  thread_id: string;
  /** Whether a turn runs. */
  status: 'running' | 'finished';
  /** The number of its last frame; null where it has none yet. */
  last_seq: number | null;
  /** The turn that runs. */
  turn_id?: string;
}

/** The turns that run. */
export interface ServerChatTurns {
  type: 'chat_turns';
  /** The id from the request. */
  request_id?: string | number;
  /** The fields of the request that were ignored. */
  warnings?: string[];
  /** The turns, each with its status. */
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

/** The permission mode of a thread. */
export interface ServerPermissionMode {
  type: 'permission_mode';
  /** The id from the request. */
  request_id?: string | number;
  /** The fields of the request that were ignored. */
  warnings?: string[];
  /** The thread. */
  thread_id: string;
  /** The mode that holds from now on. */
  permission_mode: 'plan' | 'default' | 'auto';
}

/** The answer was accepted. */
export interface ServerToolApprovalAck {
  type: 'tool_approval_ack';
  /** The id from the request. */
  request_id?: string | number;
  /** The fields of the request that were ignored. */
  warnings?: string[];
  /** The id of the question. */
  approval_id: string;
  /** The answer. */
  decision: string;
  /** The change is applied. */
  status: 'APPLIED';
}

/** The result of a tool was accepted, and fields of its frame were ignored; without such there is no answer. */
export interface ServerToolResultAck {
  type: 'tool_result_ack';
  /** The id from the request. */
  request_id?: string | number;
  /** The fields of the request that were ignored. */
  warnings?: string[];
}

/** The tools are known. */
export interface ServerUiManifestAck {
  type: 'ui_manifest_ack';
  /** The id from the request. */
  request_id?: string | number;
  /** The fields of the request that were ignored. */
  warnings?: string[];
  /** Their names. */
  tools: string[];
}

/** Request a shared task. */
export interface ServerTaskRequest {
  type: 'task_request';
  /** The id of the request, unique to this intent: the same request is never done twice. */
  requestId: string;
  /** The name of the ensemble that asks. */
  from: string;
  /** The name of the task. */
  task: string;
  /** Context for the task. */
  context?: string;
  /** The priority in the queue. */
  priority?: 'LOW' | 'NORMAL' | 'HIGH' | 'CRITICAL';
  /** The time the asker waits. */
  deadline?: string | number;
  /** The destination of the answer. */
  delivery?: {
    /** The method: only `WEBSOCKET`, the link itself, is offered here. */
    method: string;
    /** The address. */
    address?: string;
  };
  /** The trace this belongs to. */
  traceContext?: {
    /** The span of the request. */
    traceparent: string;
    /** The additions of vendors. */
    tracestate?: string;
  };
  /** Whether an earlier answer may be used. */
  cachePolicy?: 'USE_CACHED' | 'FORCE_FRESH';
  /** The key under which earlier answers are kept. */
  cacheKey?: string;
  /** The time for which the answer may be kept. */
  maxAge?: string | number;
  /** The ensembles it came through, the first one first. */
  ancestors?: string[];
  /** The number of further ensembles it may pass through. */
  hops?: number;
  /** The amounts it may use. */
  budget?: {
    /** Tokens, read and written. */
    tokens?: number;
    /** The cost, in billionths of a dollar. */
    costNanoUsd?: number;
  };
  /** Whether it was sent before: then it is not begun if it is not known. */
  resumed?: boolean;
}

/** Call a shared tool. */
export interface ServerToolRequest {
  type: 'tool_request';
  /** The id of the request, unique to this intent: the same request is never done twice. */
  requestId: string;
  /** The name of the ensemble that asks. */
  from: string;
  /** The name of the tool. */
  tool: string;
  /** The input of the call: a text, or an object that fits its schema. */
  input?: unknown;
  /** The time the asker waits. */
  deadline?: string | number;
  /** The trace this belongs to. */
  traceContext?: {
    /** The span of the request. */
    traceparent: string;
    /** The additions of vendors. */
    tracestate?: string;
  };
  /** The ensembles it came through, the first one first. */
  ancestors?: string[];
  /** The number of further ensembles it may pass through. */
  hops?: number;
  /** The amounts it may use. */
  budget?: {
    /** Tokens, read and written. */
    tokens?: number;
    /** The cost, in billionths of a dollar. */
    costNanoUsd?: number;
  };
  /** Whether it was sent before: then it is not begun if it is not known. */
  resumed?: boolean;
}

/** Cancel a request. */
export interface ServerRequestCancel {
  type: 'request_cancel';
  /** The id of the request. */
  requestId: string;
}

/** The request was accepted. */
export interface ServerTaskAccepted {
  type: 'task_accepted';
  /** The id of the request. */
  requestId: string;
  /** The number of requests before it in the queue. */
  queuePosition?: number;
  /** The time it may take. */
  estimatedCompletion?: string | number;
}

/** The progress of the work. */
export interface ServerTaskProgress {
  type: 'task_progress';
  /** The id of the request. */
  requestId: string;
  /** The progress as one word. */
  status?: string;
  /** The progress as a sentence. */
  message?: string;
  /** The progress in percent, from 0 to 100. */
  percentComplete?: number;
}

/** The result of the work. */
export interface ServerTaskResponse {
  type: 'task_response';
  /** The id of the request. */
  requestId: string;
  /** The final status. */
  status: 'COMPLETED' | 'FAILED' | 'REJECTED' | 'IN_PROGRESS';
  /** The result. */
  result?: string;
  /** The reason why there is no result. */
  error?: string;
  /** The duration. */
  durationMs?: number;
  /** Whether it may have had an effect although there is no result. */
  unknown?: boolean;
  /** The usage. */
  usage?: {
    /** Tokens read. */
    inputTokens: number;
    /** Tokens written. */
    outputTokens: number;
    /** The cost of the input, in billionths of a dollar. */
    inputCostNanoUsd: number;
    /** The cost of the output, in billionths of a dollar. */
    outputCostNanoUsd: number;
  };
  /** Whether the result was cut at the output limit of a model and accepted as it is. */
  truncated?: boolean;
}

/** The result of the work. */
export interface ServerToolResponse {
  type: 'tool_response';
  /** The id of the request. */
  requestId: string;
  /** The final status. */
  status: 'COMPLETED' | 'FAILED' | 'REJECTED' | 'IN_PROGRESS';
  /** The result. */
  result?: string;
  /** The reason why there is no result. */
  error?: string;
  /** The duration. */
  durationMs?: number;
  /** Whether it may have had an effect although there is no result. */
  unknown?: boolean;
  /** The usage. */
  usage?: {
    /** Tokens read. */
    inputTokens: number;
    /** Tokens written. */
    outputTokens: number;
    /** The cost of the input, in billionths of a dollar. */
    inputCostNanoUsd: number;
    /** The cost of the output, in billionths of a dollar. */
    outputCostNanoUsd: number;
  };
  /** Whether the result was cut at the output limit of a model and accepted as it is. */
  truncated?: boolean;
}

/** The load of an ensemble. */
export interface ServerCapacityUpdate {
  type: 'capacity_update';
  /** The name of the ensemble. */
  ensemble: string;
  /** The group it belongs to. */
  realm: string | null;
  /** Whether it accepts work. */
  status: 'available' | 'busy' | 'draining';
  /** The part of its capacity that is taken, from 0 to 1. */
  currentLoad: number;
  /** The capacity: the number of requests it works on at the same time. */
  maxConcurrent: number;
  /** Whether ensembles of other realms may use it. */
  shareable: boolean;
}

/** Ask for a sign of life: the answer is `pong`. */
export interface ClientPing {
  type: 'ping';
  /** An id that is repeated in the answer. */
  requestId?: string | number | null;
}

/** A key, for those who cannot send a header; a second one, or one beside a header, is refused. */
export interface ClientAuth {
  type: 'auth';
  /** An id that is repeated in the answer. */
  requestId?: string | number | null;
  /** The key. */
  key: string;
}

/** Set the frames that are sent. */
export interface ClientSubscribe {
  type: 'subscribe';
  /** An id that is repeated in the answer. */
  requestId?: string | number | null;
  /** The types of frames; all when absent. */
  events?: string[] | null;
  /** Only frames of this run. */
  runId?: string | null;
  /** The first event of the run that is wanted. */
  from?: number | null;
}

/** Start a run; the fields of `POST /api/runs`. */
export interface ClientRunRequest {
  type: 'run_request';
  /** An id that is repeated in the answer. */
  requestId?: string | number | null;
  /** Values of template variables, of any type. */
  inputs?: Record<string, unknown> | null;
  /** Labels to find it by. */
  tags?: Record<string, string | number | boolean | null> | null;
  /** The tasks. */
  tasks?:
    | {
      /** The work to do; may have `{variables}`. Needed, unless there is a `workflow`. */
      description?: string | null;
      /** Instead of a description: a saved workflow, by its id or its name, as a part of the run. */
      workflow?: string | null;
      /** Values of the workflow's inputs; strings may have `{variables}`. */
      inputs?: Record<string, unknown> | null;
      /** Its name, unique in the run. */
      name?: string | null;
      /** A description of the output. */
      expectedOutput?: string | null;
      /** The agent that does it; derived from the description when absent. */
      agent?:
        | {
          /** The role. */
          role: string;
          /** The goal; the description when absent. */
          goal?: string | null;
          /** The background: the agent's experience. */
          background?: string | null;
          /** Whether it may hand work to the agents of other tasks. */
          allowDelegation?: boolean | null;
        }
        | null;
      /** Further context for the agent. */
      additionalContext?: string | null;
      /** The alias of the model. */
      model?: string | null;
      /** Options for the models' answers. */
      modelOptions?:
        | {
          /** The temperature; at most 1 for models of Anthropic. */
          temperature?: number | null;
          /** The share of the most likely tokens that are chosen from. */
          topP?: number | null;
          /** The seed. Refused for models of Anthropic and over OpenAI's responses, which have none. */
          seed?: number | null;
          /** The amount of reasoning, for providers that have such an option. One of none, minimal, low, medium, high, xhigh, max, in any case. */
          reasoningEffort?: string | null;
        }
        | null;
      /** Tools the agent may call. */
      tools?: string[] | null;
      /** Tasks whose output it reads, as `$name` or an index. */
      context?: string[] | null;
      /** The maximum number of rounds of model calls. */
      maxIterations?: number | string | null;
      /** The treatment of an answer that is cut at the output limit; continue when absent. One of continue, fail, accept, in any case. */
      onTruncated?: string | null;
      /** A JSON Schema its output must fit. */
      outputSchema?: unknown;
      /** Whether a person reviews its output, regardless of `reviewPolicy`. One of required, skip, in any case. */
      review?: string | null;
      /** A condition in CEL; when it is false, the task is skipped. Tasks it names come first. */
      when?: string | null;
      /** A list in CEL: the task is done once for each item, and its output is the list of outputs. */
      forEach?: string | null;
      /** The maximum number of items; 100 when absent. */
      maxItems?: number | string | null;
      /** The number of items under way at the same time; 8 when absent. */
      maxParallel?: number | string | null;
      /** The ids of files that were uploaded to `/api/attachments`; may be `{variables}`. */
      attachments?: string[] | null;
    }[]
    | null;
  /** Groups of these tasks, which are skipped, repeated or fanned out together. */
  groups?:
    | {
      /** Its name, unique among tasks and groups; it stands for the output of its last task. */
      name: string;
      /** The names of its tasks, in their order. */
      tasks?: string[] | null;
      /** A condition in CEL; when it is false, its tasks are skipped. */
      when?: string | null;
      /** A list in CEL: its tasks are done once for each item. */
      forEach?: string | null;
      /** The maximum number of items; 100 when absent. */
      maxItems?: number | string | null;
      /** The number of items under way at the same time; 8 when absent. */
      maxParallel?: number | string | null;
      /** A condition in CEL that ends the rounds of its tasks. */
      repeatUntil?: string | null;
      /** The maximum number of rounds; 5 when absent. */
      maxRounds?: number | string | null;
      /** The end of the group when the condition is still false after the last round; fail when absent. One of fail, accept, in any case. */
      onMaxRounds?: string | null;
    }[]
    | null;
  /** Changes to configured tasks, by their names. */
  taskOverrides?:
    | Record<string, {
      /** The work to do. */
      description?: string | null;
      /** A description of the output. */
      expectedOutput?: string | null;
      /** Further context for the agent. */
      additionalContext?: string | null;
      /** The alias of the model. */
      model?: string | null;
      /** Options for the models' answers. */
      modelOptions?:
        | {
          /** The temperature; at most 1 for models of Anthropic. */
          temperature?: number | null;
          /** The share of the most likely tokens that are chosen from. */
          topP?: number | null;
          /** The seed. Refused for models of Anthropic and over OpenAI's responses, which have none. */
          seed?: number | null;
          /** The amount of reasoning, for providers that have such an option. One of none, minimal, low, medium, high, xhigh, max, in any case. */
          reasoningEffort?: string | null;
        }
        | null;
      /** The maximum number of rounds of model calls. */
      maxIterations?: number | string | null;
      /** The treatment of an answer that is cut at the output limit. One of continue, fail, accept, in any case. */
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
  /** Settings for the execution of the run. */
  options?:
    | {
      /** Characters of a tool's output that a model reads; -1 for all. */
      maxToolOutputLength?: number | null;
      /** Characters of a tool's output in the log; -1 for all. */
      toolLogTruncateLength?: number | null;
      /** The order of the tasks. One of SEQUENTIAL, PARALLEL, HIERARCHICAL, in any case. */
      workflow?: string | null;
      /** Whether prompts, replies and calls are written to the server's log. */
      verbose?: boolean | null;
      /** The tasks whose output a person reviews. One of NEVER, AFTER_EVERY_TASK, AFTER_LAST_TASK, in any case. */
      reviewPolicy?: string | null;
      /** The end of a review that nobody decides in time. Where neither this nor `on_timeout` of the file is written, reviews that a task demands wait for a person. One of CONTINUE, EXIT_EARLY, FAIL, in any case. */
      onTimeout?: string | null;
      /** The content of an exported trace. One of OFF, STANDARD, FULL, DETAILED, in any case. */
      captureMode?: string | null;
      /** The urgency among runs that wait for a slot; `NORMAL` if absent. One of LOW, NORMAL, HIGH, CRITICAL, in any case. */
      priority?: string | null;
    }
    | null;
  /** Options for the models' answers. */
  modelOptions?:
    | {
      /** The temperature; at most 1 for models of Anthropic. */
      temperature?: number | null;
      /** The share of the most likely tokens that are chosen from. */
      topP?: number | null;
      /** The seed. Refused for models of Anthropic and over OpenAI's responses, which have none. */
      seed?: number | null;
      /** The amount of reasoning, for providers that have such an option. One of none, minimal, low, medium, high, xhigh, max, in any case. */
      reasoningEffort?: string | null;
    }
    | null;
  /** The ids of files that were uploaded to `/api/attachments`, for every task without its own. */
  attachments?: string[] | null;
  /** Whether to only report what would run. */
  dryRun?: boolean | null;
}

/** Steer a run. */
export interface ClientRunControl {
  type: 'run_control';
  /** An id that is repeated in the answer. */
  requestId?: string | number | null;
  /** The run. */
  runId: string;
  /** The action. One of cancel, switch_model, give_up, raise_budget, pause, resume, in any case. */
  action: string;
  /** The alias to switch to. */
  model?: string | null;
  /** The task whose model calls are given up, or the role of its agent; all when absent. */
  task?: string | null;
  maxTotalSubtasks?: number | null;
  maxTotalLlmCalls?: number | null;
  maxTotalToolCalls?: number | null;
  maxWallClockMs?: number | null;
  maxTotalTokens?: number | null;
  maxCostUsd?: number | null;
  /** The point at which it is cancelled; after_task when absent. One of after_task, after_iteration, now, in any case. */
  mode?: string | null;
}

/** Decide a review; the fields of `POST /api/reviews/{id}`. */
export interface ClientReviewDecision {
  type: 'review_decision';
  /** An id that is repeated in the answer. */
  requestId?: string | number | null;
  /** The review. */
  reviewId: string;
  /** The decision; APPROVE is the same as CONTINUE. One of CONTINUE, APPROVE, EDIT, EXIT_EARLY, REJECT, in any case. */
  decision: string;
  /** The new output; required for EDIT. */
  revisedOutput?: string | null;
  /** The feedback; required for REJECT. */
  feedback?: string | null;
}

/** Send a directive to the agents, or choose a tier of models. */
export interface ClientDirective {
  type: 'directive';
  /** An id that is repeated in the answer. */
  requestId?: string | number | null;
  /** The run; all that are under way when absent. */
  runId?: string | null;
  /** The text. */
  content?: string | null;
  /** The ensemble, or a role or a task of it. */
  to?: string | null;
  /** The role or the task it is for; all when absent. */
  target?: string | null;
  /** The author. Where keys are needed the author is the name of the key, and this counts as `onBehalfOf`. */
  from?: string | null;
  /** The person in whose name it is said. */
  onBehalfOf?: string | null;
  /** The importance; NORMAL when absent. One of LOW, NORMAL, HIGH, in any case. */
  priority?: string | null;
  /** The time for which it holds, as in `PT10M`. */
  ttl?: string | null;
  /** SET_MODEL_TIER, to choose a tier instead of sending a text. */
  action?: string | null;
  /** The tier. One of PRIMARY, FALLBACK, in any case. */
  value?: string | null;
}

/** Ask for the state of runs or of the server. */
export interface ClientStateQuery {
  type: 'state_query';
  /** An id that is repeated in the answer. */
  requestId?: string | number | null;
  /** The subject of the question. One of runs, run_detail, capabilities, in any case. */
  query: string;
  /** The run, of run_detail. */
  runId?: string | null;
  /** The runs wanted, as in the query of `GET /api/runs`. */
  filter?:
    | {
      /** The status of the runs. One of ACCEPTED, RUNNING, COMPLETED, FAILED, CANCELLED, REJECTED, in any case. */
      status?: string | number | boolean | (string | number)[] | null;
      /** `key:value`, or `key` with any value; all given ones must match. */
      tag?: string | number | boolean | (string | number)[] | null;
      /** The runs of this ensemble, or work for others; the first when absent. One of run, peer, in any case. */
      kind?: string | number | boolean | (string | number)[] | null;
      /** Words of its inputs, tasks, output, error or id: each begins one of them. */
      q?: string | number | boolean | (string | number)[] | null;
      /** The earliest start: a time, or a day in UTC. */
      from?: string | number | boolean | (string | number)[] | null;
      /** The latest start: a time, or a day in UTC, which is included. */
      to?: string | number | boolean | (string | number)[] | null;
      /** The model that tasks without one of their own ask. */
      model?: string | number | boolean | (string | number)[] | null;
      /** The least cost in dollars; runs of unknown cost do not match. */
      minCost?: string | number | boolean | (string | number)[] | null;
      /** Only runs that wait for this, or for anything. One of any, queue, resume, model, lock, retry, review, approval, storage, in any case. */
      waiting?: string | number | boolean | (string | number)[] | null;
      /** Only runs that are paused, or only those that are not. */
      paused?: string | number | boolean | (string | number)[] | null;
      /** The order by start; the newest come first when absent. One of newest, oldest, in any case. */
      order?: string | number | boolean | (string | number)[] | null;
      /** The `next` of the page before this one; not with `offset`. */
      after?: string | number | boolean | (string | number)[] | null;
      /** The maximum number of results. */
      limit?: string | number | boolean | (string | number)[] | null;
      /** The number of results to skip. */
      offset?: string | number | boolean | (string | number)[] | null;
    }
    | null;
}

/** Ask for shared capabilities. */
export interface ClientCapabilityQuery {
  type: 'capability_query';
  /** An id that is repeated in the answer. */
  requestId?: string | number | null;
  /** Only capabilities of this name. */
  capabilityName?: string | null;
  /** Another name of `capabilityName`. */
  toolName?: string | null;
  /** Only capabilities with this tag. */
  tag?: string | null;
  /** Only capabilities of this kind: TASK or TOOL. */
  capabilityType?: string | null;
}

/** Send a message; the fields of `POST /api/threads/{id}/messages`. */
export interface ClientChatMessage {
  type: 'chat_message';
  /** An id that is repeated in the answer. */
  request_id?: string | number | null;
  /** The thread; a new one when absent. */
  thread_id?: string | null;
  /** The text. */
  content: string;
  /** The alias of the model. */
  model?: string | null;
  /** `{kind: "editor", workflowId}`: the workflow that is open. */
  chat_context?: Record<string, unknown> | string | null;
  /** `workflow`: the workflow of `workflow_id` answers instead of the chat agent. */
  workflow_target?: string | null;
  /** The workflow that answers, or is open. */
  workflow_id?: string | null;
  /** The collections that are searched for the answer. */
  collections?: string[] | null;
  /** The ids of files that were uploaded to `/api/attachments`, at most 20. */
  attachments?: string[] | null;
  /** Whether facts about the user may be recalled and new ones stored. */
  memory_enabled?: boolean | null;
  /** The permission mode: the calls that may be made without asking. */
  permission_mode?: 'plan' | 'default' | 'auto' | null;
  /** The effect of the message while another turn runs. */
  if_busy?: 'interrupt' | 'reject' | 'queue' | null;
}

/** Go on with the last answer, which was cut. */
export interface ClientChatContinue {
  type: 'chat_continue';
  /** An id that is repeated in the answer. */
  request_id?: string | number | null;
  /** The thread. */
  thread_id: string;
}

/** Stop the turn that runs. */
export interface ClientChatStop {
  type: 'chat_stop';
  /** An id that is repeated in the answer. */
  request_id?: string | number | null;
  /** The thread. */
  thread_id: string;
}

/** Follow a thread. */
export interface ClientChatSubscribe {
  type: 'chat_subscribe';
  /** An id that is repeated in the answer. */
  request_id?: string | number | null;
  /** The thread. */
  thread_id: string;
  /** The last number the client has; -1 when it has none, absent when it wants nothing that was missed. */
  last_seq?: number | null;
}

/** Ask for the turns that run. */
export interface ClientChatTurns {
  type: 'chat_turns';
  /** An id that is repeated in the answer. */
  request_id?: string | number | null;
}

/** Set the permission mode of a thread. */
export interface ClientSetPermissionMode {
  type: 'set_permission_mode';
  /** An id that is repeated in the answer. */
  request_id?: string | number | null;
  /** The thread. */
  thread_id: string;
  /** The new mode. */
  permission_mode?: 'plan' | 'default' | 'auto' | null;
  /** Another name of `permission_mode`. */
  mode?: 'plan' | 'default' | 'auto' | null;
}

/** Allow a call, or not. */
export interface ClientToolApprovalResponse {
  type: 'tool_approval_response';
  /** An id that is repeated in the answer. */
  request_id?: string | number | null;
  /** The id of the question. */
  approval_id: string;
  /** The answer. One of allow, allow_for_chat, deny, in any case. */
  decision: string;
  /** The arguments to make the call with, in the place of the model's; only with `allow`. */
  args?: Record<string, unknown> | null;
}

/** The tools a client offers. */
export interface ClientUiManifest {
  type: 'ui_manifest';
  /** An id that is repeated in the answer. */
  request_id?: string | number | null;
  /** The tools. */
  tools: {
    /** Its name. */
    name: string;
    /** The description for the model. */
    description?: string | null;
    /** A JSON Schema. */
    parameters?: unknown;
  }[];
}

/** The result of a client's tool. */
export interface ClientToolResult {
  type: 'tool_result';
  /** An id that is repeated in the answer. */
  request_id?: string | number | null;
  /** The call. */
  tool_call_id: string;
  /** The result: a text, or anything else as JSON. */
  result: unknown;
  /** The thread, if it is known. */
  thread_id?: string | null;
  /** Whether it failed. */
  is_error?: boolean | null;
}

/** The first frame of each side of a link: it introduces itself. */
export interface ClientPeerHello {
  type: 'peer_hello';
  /** The name of the ensemble. */
  ensemble: string;
  /** The group it belongs to. */
  realm?: string | null;
  /** The version of Consort. */
  version?: string | null;
  /** The capabilities that others may use. */
  sharedCapabilities?: {
    /** The name, unique in its ensemble. */
    name: string;
    /** The description for the model. */
    description?: string;
    /** Tool or task. */
    type: 'TASK' | 'TOOL';
    /** Words that it is found by. */
    tags?: string[];
    /** The JSON Schema of its input; absent: the input is a text. */
    schema?: unknown;
    /** The version. */
    version?: string | null;
    /** The effect of doing it twice; absent: it must not be done twice. */
    effect?: 'read' | 'idempotent' | 'once' | null;
    /** The time it may take. */
    timeoutMs?: number | null;
  }[];
  /** The interval at which it reports that it is alive. */
  leaseMs?: number | null;
  /** The size of the largest frame that it accepts, in bytes. */
  maxFrameBytes?: number | null;
}

/** Request a shared task. */
export interface ClientTaskRequest {
  type: 'task_request';
  /** The id of the request, unique to this intent: the same request is never done twice. */
  requestId: string;
  /** The name of the ensemble that asks. */
  from: string;
  /** The name of the task. */
  task: string;
  /** Context for the task. */
  context?: string | null;
  /** The priority in the queue. */
  priority?: 'LOW' | 'NORMAL' | 'HIGH' | 'CRITICAL' | null;
  /** The time the asker waits. */
  deadline?: string | number | null;
  /** The destination of the answer. */
  delivery?:
    | {
      /** The method: only `WEBSOCKET`, the link itself, is offered here. */
      method: string;
      /** The address. */
      address?: string | null;
    }
    | null;
  /** The trace this belongs to. */
  traceContext?:
    | {
      /** The span of the request. */
      traceparent: string;
      /** The additions of vendors. */
      tracestate?: string | null;
    }
    | null;
  /** Whether an earlier answer may be used. */
  cachePolicy?: 'USE_CACHED' | 'FORCE_FRESH' | null;
  /** The key under which earlier answers are kept. */
  cacheKey?: string | null;
  /** The time for which the answer may be kept. */
  maxAge?: string | number | null;
  /** The ensembles it came through, the first one first. */
  ancestors?: string[];
  /** The number of further ensembles it may pass through. */
  hops?: number | null;
  /** The amounts it may use. */
  budget?:
    | {
      /** Tokens, read and written. */
      tokens?: number | null;
      /** The cost, in billionths of a dollar. */
      costNanoUsd?: number | null;
    }
    | null;
  /** Whether it was sent before: then it is not begun if it is not known. */
  resumed?: boolean;
}

/** Call a shared tool. */
export interface ClientToolRequest {
  type: 'tool_request';
  /** The id of the request, unique to this intent: the same request is never done twice. */
  requestId: string;
  /** The name of the ensemble that asks. */
  from: string;
  /** The name of the tool. */
  tool: string;
  /** The input of the call: a text, or an object that fits its schema. */
  input?: unknown;
  /** The time the asker waits. */
  deadline?: string | number | null;
  /** The trace this belongs to. */
  traceContext?:
    | {
      /** The span of the request. */
      traceparent: string;
      /** The additions of vendors. */
      tracestate?: string | null;
    }
    | null;
  /** The ensembles it came through, the first one first. */
  ancestors?: string[];
  /** The number of further ensembles it may pass through. */
  hops?: number | null;
  /** The amounts it may use. */
  budget?:
    | {
      /** Tokens, read and written. */
      tokens?: number | null;
      /** The cost, in billionths of a dollar. */
      costNanoUsd?: number | null;
    }
    | null;
  /** Whether it was sent before: then it is not begun if it is not known. */
  resumed?: boolean;
}

/** Cancel a request. */
export interface ClientRequestCancel {
  type: 'request_cancel';
  /** The id of the request. */
  requestId: string;
}

/** The request was accepted. */
export interface ClientTaskAccepted {
  type: 'task_accepted';
  /** The id of the request. */
  requestId: string;
  /** The number of requests before it in the queue. */
  queuePosition?: number | null;
  /** The time it may take. */
  estimatedCompletion?: string | number | null;
}

/** The progress of the work. */
export interface ClientTaskProgress {
  type: 'task_progress';
  /** The id of the request. */
  requestId: string;
  /** The progress as one word. */
  status?: string | null;
  /** The progress as a sentence. */
  message?: string | null;
  /** The progress in percent, from 0 to 100. */
  percentComplete?: number | null;
}

/** The result of the work. */
export interface ClientTaskResponse {
  type: 'task_response';
  /** The id of the request. */
  requestId: string;
  /** The final status. */
  status: 'COMPLETED' | 'FAILED' | 'REJECTED' | 'IN_PROGRESS';
  /** The result. */
  result?: string | null;
  /** The reason why there is no result. */
  error?: string | null;
  /** The duration. */
  durationMs?: number | null;
  /** Whether it may have had an effect although there is no result. */
  unknown?: boolean;
  /** The usage. */
  usage?:
    | {
      /** Tokens read. */
      inputTokens?: number;
      /** Tokens written. */
      outputTokens?: number;
      /** The cost of the input, in billionths of a dollar. */
      inputCostNanoUsd?: number;
      /** The cost of the output, in billionths of a dollar. */
      outputCostNanoUsd?: number;
    }
    | null;
  /** Whether the result was cut at the output limit of a model and accepted as it is. */
  truncated?: boolean;
}

/** The result of the work. */
export interface ClientToolResponse {
  type: 'tool_response';
  /** The id of the request. */
  requestId: string;
  /** The final status. */
  status: 'COMPLETED' | 'FAILED' | 'REJECTED' | 'IN_PROGRESS';
  /** The result. */
  result?: string | null;
  /** The reason why there is no result. */
  error?: string | null;
  /** The duration. */
  durationMs?: number | null;
  /** Whether it may have had an effect although there is no result. */
  unknown?: boolean;
  /** The usage. */
  usage?:
    | {
      /** Tokens read. */
      inputTokens?: number;
      /** Tokens written. */
      outputTokens?: number;
      /** The cost of the input, in billionths of a dollar. */
      inputCostNanoUsd?: number;
      /** The cost of the output, in billionths of a dollar. */
      outputCostNanoUsd?: number;
    }
    | null;
  /** Whether the result was cut at the output limit of a model and accepted as it is. */
  truncated?: boolean;
}

/** The load of an ensemble. */
export interface ClientCapacityUpdate {
  type: 'capacity_update';
  /** The name of the ensemble. */
  ensemble: string;
  /** The group it belongs to. */
  realm?: string | null;
  /** Whether it accepts work. */
  status: 'available' | 'busy' | 'draining';
  /** The part of its capacity that is taken, from 0 to 1. */
  currentLoad: number;
  /** The capacity: the number of requests it works on at the same time. */
  maxConcurrent: number;
  /** Whether ensembles of other realms may use it. */
  shareable: boolean;
}
