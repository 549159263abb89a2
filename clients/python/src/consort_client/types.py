"""The values of the API. Made from openapi.json by `python generate.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired, TypeAlias


class Accepted(TypedDict):
    """A run that was taken."""

    runId: str
    # A run that was taken is accepted.
    status: Literal['ACCEPTED']
    tasks: int
    # In which order tasks run.
    workflow: Literal['SEQUENTIAL', 'PARALLEL', 'HIERARCHICAL']
    warnings: NotRequired[list[str]]
    # The run it retries.
    retryOf: NotRequired[str]
    forkedFrom: NotRequired[ForkedFrom]
    # How many go before it, while it waits.
    queuePosition: NotRequired[int]


class AddedDocument(TypedDict):
    """A document that was added."""

    id: int
    collection: str
    title: str
    # Whether it is found by its meaning too. False without `[chat] embeddings`, and while that model does not answer:
    # it is asked again later.
    embedded: bool


class AgentRequest(TypedDict):
    """The agent of a task."""

    # What it is.
    role: str
    # What it wants; the description when absent.
    goal: NotRequired[str | None]
    # What it has done before.
    background: NotRequired[str | None]
    # Whether it may hand work to the agents of other tasks.
    allowDelegation: NotRequired[bool | None]


class RunEvent(TypedDict):
    """The fields that every frame of a run's events has."""

    # The run.
    runId: str
    # The event's number in the run, from 0.
    seq: int
    # True when the event was copied from the run that this one goes on from:
    # its time and its counts are that run's. Absent on what the run did itself.
    inherited: NotRequired[Literal[True]]
    # When the event was decided.
    at: str


class AnswerEmptyFrame1(RunEvent):
    """The model's reply said nothing."""

    type: Literal['answer_empty']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # What the agent works on.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`.
    turnId: str
    # The round of the conversation, from 0.
    iterationIndex: NotRequired[int]
    # The alias of the model.
    model: NotRequired[str]
    # The step that follows.
    then: Literal['continue', 'fail', 'accept']


class ChatEvent(TypedDict):
    """The fields that every frame of a turn's events has."""

    # The thread.
    thread_id: str
    # The turn.
    turn_id: str
    # The event's number in the thread, from 0.
    chat_seq: int
    # When the event was decided.
    at: str


class AnswerEmptyFrame2(ChatEvent):
    """The model's reply said nothing."""

    type: Literal['answer_empty']
    # The call that the subtask is; null for the conversation itself.
    parent_id: str | None
    # How deep the subtask is nested.
    depth: int
    # The model call.
    call_id: str
    # The step that follows.
    then: Literal['continue', 'fail', 'accept']


class AnswerTruncatedFrame1(RunEvent):
    """The model's reply ended at its output limit."""

    type: Literal['answer_truncated']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # What the agent works on.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`.
    turnId: str
    # The round of the conversation, from 0.
    iterationIndex: NotRequired[int]
    # The alias of the model.
    model: NotRequired[str]
    # The step that follows.
    then: Literal['continue', 'fail', 'accept']
    # True when it ended within a call, which is not made.
    inCall: NotRequired[bool]
    # The number of the continuation that follows, from 1.
    continuation: NotRequired[int]


class AnswerTruncatedFrame2(ChatEvent):
    """The model's reply ended at its output limit."""

    type: Literal['answer_truncated']
    # The call that the subtask is; null for the conversation itself.
    parent_id: str | None
    # How deep the subtask is nested.
    depth: int
    # The model call.
    call_id: str
    # The step that follows.
    then: Literal['continue', 'fail', 'accept']
    # Whether it ended within a call, which is not made.
    in_call: bool


class Answered(TypedDict):
    """A call that was answered."""

    approval_id: str
    decision: Literal['allow', 'allow_for_chat', 'deny']
    # Something that holds from now on.
    status: Literal['APPLIED']


class Approval(TypedDict):
    """A call of a chat that waits for a person."""

    # The call that the subtask is; null for the conversation itself.
    parent_id: str | None
    # How deep the subtask is nested.
    depth: int
    # The id to decide it by.
    approval_id: str
    # The call.
    tool_call_id: str
    # The tool.
    tool_name: str
    # The kind of effect it has.
    category: str
    # Its arguments.
    args: Any
    # The question.
    message: str
    # Why it is asked.
    reason: Literal['effect', 'taint', 'instructions']
    # The host, or the name of the MCP server or peer, that the arguments would go to.
    host: str | None
    # The size of the arguments in bytes.
    bytes: int
    # What the chat has read that its user did not write, where that is why it is asked.
    sources: list[str]
    # When it was asked.
    created_at: str
    # When it counts as denied.
    expires_at: str | None
    # Its thread.
    thread_id: str
    # Its turn.
    turn_id: str


class ApprovalRequest(TypedDict):
    """What a person says about a call."""

    # One of allow, allow_for_chat, deny, in any case.
    decision: str


class Approvals(TypedDict):
    """The calls of a client's chats that wait for a person."""

    total: int
    approvals: list[Approval]


class Event(TypedDict):
    """A stored frame: of a run, or of a turn of a chat."""

    # The run.
    runId: NotRequired[str]
    # The event's number in the run, from 0.
    seq: NotRequired[int]
    # True when the event was copied from the run that this one goes on from:
    # its time and its counts are that run's. Absent on what the run did itself.
    inherited: NotRequired[Literal[True]]
    # When the event was decided.
    at: NotRequired[str]
    # The thread.
    thread_id: NotRequired[str]
    # The turn.
    turn_id: NotRequired[str]
    # The event's number in the thread, from 0.
    chat_seq: NotRequired[int]


class BeltComposedFrame(Event):
    """The tools that a task's patterns stand for were looked up."""

    type: Literal['belt_composed']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # What the agent works on.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`.
    turnId: str
    # The name of the task.
    taskName: NotRequired[str]
    # The tools that were found.
    toolNames: list[str]


class BudgetExceededFrame(Event):
    """The next step would pass a limit."""

    type: Literal['budget_exceeded']
    # Which limit.
    reason: Literal['subtasks', 'llm_calls', 'tool_calls', 'wall_clock', 'tokens', 'cost']
    # The limit; US dollars where it is money.
    limit: float
    # The amount that the step would have reached.
    observed: float


class CallChargedFrame(Event):
    """Another ensemble has charged for a call."""

    type: Literal['call_charged']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # What the agent works on.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`.
    turnId: str
    # The call.
    callId: str
    # Tokens it used.
    tokens: int
    # US dollars it cost.
    cost: float


class CancelRequest(TypedDict):
    """How a run is to stop."""

    # How soon; after_task when absent. One of after_task, after_iteration, now, in any case.
    mode: NotRequired[str | None]


class CancelRequestedFrame(Event):
    """A person wants the run to stop."""

    type: Literal['cancel_requested']
    # How soon.
    mode: Literal['after_task', 'after_iteration', 'now']
    # Who wants it.
    by: str


class Capabilities(TypedDict):
    """What a request can choose from."""

    tools: list[Tool]
    models: list[Model]
    preconfiguredTasks: list[PreconfiguredTask]
    # Values template variables have unless others are sent.
    inputs: dict[str, str]
    sharedTasks: list[Capability]
    sharedTools: list[Capability]
    # Servers whose tools come and go.
    mcpServers: list[McpServer]


class Capability(TypedDict):
    """Something others may use."""

    # Unique in its ensemble.
    name: str
    # What it does, for the model.
    description: str
    # Tool or task.
    type: Literal['TASK', 'TOOL']
    # What it is about.
    tags: list[str]
    # What its input must look like; absent: a text.
    schema: NotRequired[Any]
    # Which version of it this is.
    version: NotRequired[str]
    # What doing it twice would mean; absent: it must not be done twice.
    effect: NotRequired[Literal['read', 'idempotent', 'once']]
    # How long it may take.
    timeoutMs: NotRequired[int]


class ChoreStartedFrame(Event):
    """The run itself makes calls for a task."""

    type: Literal['chore_started']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # What the agent works on.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`.
    turnId: str
    # The name of the task.
    taskName: NotRequired[str]
    # What the calls are for.
    chore: Literal['recall', 'guard_input', 'handle', 'guard_output', 'remember']
    # The tools that are called.
    toolNames: list[str]


class ChunkFrame1(ChatEvent):
    """The turn has ended; the last frame."""

    type: Literal['chunk']
    # Empty.
    content: str
    # True.
    done: Literal[True]
    # The call that the subtask is; null for the conversation itself.
    parent_id: str | None
    # How deep the subtask is nested.
    depth: int
    # How it ended.
    status: Literal['ACCEPTED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED', 'REJECTED']


class ChunkFrame2(TypedDict):
    """Words of a model of a chat."""

    type: Literal['chunk']
    # The thread.
    thread_id: str
    # The turn.
    turn_id: str
    # The call that the subtask is; null for the conversation itself.
    parent_id: str | None
    # How deep the subtask is nested.
    depth: int
    # The model call.
    call_id: str
    # The words.
    content: str
    # Where in the answer they stand, in bytes.
    offset: NotRequired[int]
    # True when the model thinks them: they are no part of the answer.
    thinking: NotRequired[Literal[True]]
    # The number of the frame they follow.
    chat_seq: int


class Collection(TypedDict):
    """Documents to be searched."""

    name: str
    documents: int
    createdAt: str
    updatedAt: str
    # True where it cannot be read: then only its row is told.
    damaged: NotRequired[bool]
    # Why it cannot be read.
    damagedReason: NotRequired[str]


class CollectionRequest(TypedDict):
    """A collection that is to be made."""

    name: str


class Collections(TypedDict):
    """All collections."""

    collections: list[Collection]


class Compacted(TypedDict):
    """A store without what was deleted from it."""

    # The only way it ends well.
    status: Literal['COMPACTED']


class Cost(TypedDict):
    """Money, in dollars."""

    inputCost: float
    outputCost: float


class CostSummaryFrameByModel(TypedDict):
    """What a model was used for."""

    # Its alias.
    model: str
    # Model calls.
    llm_calls: int
    # Tokens read.
    input_tokens: int
    # Tokens written.
    output_tokens: int
    # Tokens read from the provider's cache.
    cached_tokens: int
    # US dollars, when it has a price.
    total_usd: float | None


class CostSummaryFrame(ChatEvent):
    """What the turn used."""

    type: Literal['cost_summary']
    # US dollars, when every model has a price.
    total_usd: float | None
    # Tokens read.
    input_tokens: int
    # Tokens written.
    output_tokens: int
    # Tokens read from the provider's cache.
    cached_tokens: int
    # Model calls.
    llm_calls: int
    # Tool calls.
    tool_calls: int
    # Subtasks.
    subtasks: int
    # Time of work.
    wall_ms: int
    # The same for each model.
    by_model: list[CostSummaryFrameByModel]
    # Models without a price.
    unpriced_models: list[str]


class CurrentTask(TypedDict):
    """A task that is under way."""

    name: str
    index: int


class Decided(TypedDict):
    """A decision that holds."""

    reviewId: str
    decision: str
    # Something that holds from now on.
    status: Literal['APPLIED']


class DecisionRequest(TypedDict):
    """What a person says about an output."""

    # APPROVE is CONTINUE. One of CONTINUE, APPROVE, EDIT, EXIT_EARLY, REJECT, in any case.
    decision: str
    # Needed by EDIT.
    revisedOutput: NotRequired[str | None]
    # Needed by REJECT.
    feedback: NotRequired[str | None]


class DelegationCompletedFrame(Event):
    """That agent has done it."""

    type: Literal['delegation_completed']
    # The call that handed it over.
    delegationId: str
    # The role of the agent that handed it over.
    delegatingAgentRole: NotRequired[str]
    # The role of the agent that does it.
    workerRole: str
    # How long it took.
    durationMs: int


class DelegationFailedFrame(Event):
    """That agent has failed, or could not be handed anything."""

    type: Literal['delegation_failed']
    # The call that handed it over.
    delegationId: str
    # The role of the agent that handed it over.
    delegatingAgentRole: NotRequired[str]
    # The role of the agent that does it.
    workerRole: str
    # Why.
    reason: str


class DelegationStartedFrame(Event):
    """An agent was handed work."""

    type: Literal['delegation_started']
    # The call that handed it over.
    delegationId: str
    # The role of the agent that handed it over.
    delegatingAgentRole: NotRequired[str]
    # The role of the agent that does it.
    workerRole: str
    # The work.
    taskDescription: str


# A person has told the agents something.
DirectiveActiveFrame = TypedDict(
    "DirectiveActiveFrame",
    {
        "type": "Literal['directive_active']",
        "directiveId": "str",
        "from": "str",
        "content": "str",
        "target": "NotRequired[str | None]",
        "priority": "Literal['LOW', 'NORMAL', 'HIGH']",
        "expiresAt": "NotRequired[str | None]",
        "onBehalfOf": "NotRequired[str]",
    },
)


class DirectiveDeliveredFrame(Event):
    """An agent reads it with its next model call."""

    type: Literal['directive_delivered']
    # Its id.
    directiveId: str
    # The task that reads it, from 1.
    taskIndex: int
    # The round that reads it, from 0.
    iterationIndex: int


class DocumentRequest(TypedDict):
    """A document that is to be added."""

    title: str
    content: str


class Drained(TypedDict):
    """A server that is about to stop."""

    # A server that was told to stop drains.
    status: Literal['DRAINING']


class Edits(TypedDict):
    """Changes a new run begins with."""

    # The first event that is not taken over; everything when absent. For forks.
    seq: NotRequired[int | None]
    # Instead of `seq`: what stands before this task began is taken over. For forks.
    task: NotRequired[str | None]
    # Values of template variables.
    inputs: NotRequired[dict[str, str | float | bool | None] | None]
    # Labels to find it by.
    tags: NotRequired[dict[str, str | float | bool | None] | None]
    # The alias of the model to ask.
    model: NotRequired[str | None]
    # Changes to tasks that have not begun, by their names.
    taskOverrides: NotRequired[dict[str, Override] | None]
    # How it is carried out.
    options: NotRequired[Options | None]
    # How models answer.
    modelOptions: NotRequired[ModelOptions | None]


class EnsembleCompletedFrame(RunEvent):
    """The run is over."""

    type: Literal['ensemble_completed']
    # The id of this execution.
    ensembleId: str
    # When it ended.
    completedAt: str
    # How long it took.
    durationMs: int
    # Why it ended.
    exitReason: Literal['COMPLETED', 'USER_EXIT_EARLY', 'TIMEOUT', 'ERROR', 'CANCELLED']
    # Tokens used; -1 when unknown.
    totalTokens: int
    # Tool calls made.
    totalToolCalls: int
    # Why it failed.
    error: NotRequired[str]


class EnsembleStartedFrame(RunEvent):
    """The first task is about to begin."""

    type: Literal['ensemble_started']
    # The id of this execution.
    ensembleId: str
    # When it started.
    startedAt: str
    # How many tasks it has.
    totalTasks: int
    # In which order its tasks run.
    workflow: Literal['SEQUENTIAL', 'PARALLEL', 'HIERARCHICAL']


class ErrorFrame(ChatEvent):
    """The turn failed."""

    type: Literal['error']
    # What went wrong, as a word.
    code: str
    # What went wrong.
    message: str
    # The status of the provider's answer, when that was the trouble.
    status_code: NotRequired[int]


class ExecutionTree(TypedDict):
    """The calls of a turn."""

    # The version of this shape.
    version: int
    # The calls, in the order they were asked for.
    nodes: list[TreeNode]


class Facts(TypedDict):
    """What is remembered about the caller."""

    facts: list[RememberedFact]
    total: int


class FileChangedFrame(Event):
    """A call has changed a file."""

    type: Literal['file_changed']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # What the agent works on.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`.
    turnId: str
    # The file, as the tool names it.
    filePath: str
    # What happened to it.
    changeType: Literal['CREATED', 'MODIFIED', 'DELETED']
    # Lines it has now and did not have.
    linesAdded: int
    # Lines it had and does not have now.
    linesRemoved: int
    # The call.
    callId: str
    # When.
    timestamp: str


class Files(TypedDict):
    """The files in the folder of traces."""

    files: list[ListedFile]
    directory: str


class FinishDemandedFrame(Event):
    """A subtask that owes a structured result answered in prose, and is reminded."""

    type: Literal['finish_demanded']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # What the agent works on.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`.
    turnId: str
    # The round of the conversation, from 0.
    iterationIndex: NotRequired[int]
    # The alias of the model.
    model: NotRequired[str]


class Forgotten(TypedDict):
    """What was forgotten."""

    forgotten: int


class ForkedFrom(TypedDict):
    """The run it was forked from, and the first event it did not take."""

    runId: str
    seq: int


class Frames(TypedDict):
    """A page of frames."""

    events: list[Frame]


class GonePeer(TypedDict):
    """An ensemble that went away."""

    name: str
    # When it went away.
    at: str
    ensemble: NotRequired[str]
    realm: NotRequired[str]
    version: NotRequired[str]
    # What it shares, or shared.
    sharedCapabilities: list[Capability]


class Grant(TypedDict):
    """What was allowed for the rest of a chat."""

    # The id to take it back by.
    id: str
    # The tool that may be called.
    tool: str
    # The host, MCP server or peer that it may send to; null when it sends nothing.
    host: str | None
    # When it was allowed.
    grantedAt: str


class GrantWithdrawnFrame(ChatEvent):
    """What was allowed for the rest of the chat was taken back."""

    type: Literal['grant_withdrawn']
    # The grant.
    grant_id: str
    # Who took it back.
    by: str


class Grants(TypedDict):
    """What was allowed for the rest of a conversation."""

    grants: list[Grant]


class Health(TypedDict):
    """Whether the server takes work."""

    # What a probe is told.
    status: Literal['STARTED', 'NOT_STARTED', 'READY', 'NOT_READY']
    # Where a server stands.
    lifecycleState: Literal['STARTING', 'READY', 'DRAINING']
    # Why it takes no work although it has started: nothing can be stored.
    reason: NotRequired[str]


class HistoryDroppedFrame(Event):
    """The oldest exchanges are not sent any more, because they do not fit."""

    type: Literal['history_dropped']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # What the agent works on.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`.
    turnId: str
    # The round of the conversation, from 0.
    iterationIndex: NotRequired[int]
    # The alias of the model.
    model: NotRequired[str]
    # How many exchanges were dropped.
    exchanges: int


class Hit(TypedDict):
    """A passage that was found."""

    collection: str
    documentId: int
    title: str
    snippet: str
    score: float


class Hits(TypedDict):
    """Passages that were found."""

    results: list[Hit]


# Something that is said to the agents of a run.
InjectRequest = TypedDict(
    "InjectRequest",
    {
        "content": "str",
        "target": "NotRequired[str | None]",
        "priority": "NotRequired[str | None]",
        "ttl": "NotRequired[str | None]",
        "from": "NotRequired[str | None]",
        "onBehalfOf": "NotRequired[str | None]",
    },
)


class Injected(TypedDict):
    """Something that was said to the agents of a run."""

    directiveId: str
    # A directive that agents are told is active.
    status: Literal['ACTIVE']


class InvokeRequest(TypedDict):
    """What a tool is called with."""

    # The arguments, as the tool's schema wants them; a text is that object as JSON, or else stands for its only
    # required text.
    input: NotRequired[dict[str, Any] | str | None]


class Invoked(TypedDict):
    """What a tool answered. A tool that failed is an answer too."""

    tool: str
    durationMs: int
    # Whether a tool did what it was called for.
    status: Literal['SUCCESS', 'FAILED']
    output: NotRequired[str]
    # The output as data.
    data: NotRequired[Any]
    errorMessage: NotRequired[str]
    # `TOOL_TIMEOUT` when it took too long.
    error: NotRequired[Literal['TOOL_TIMEOUT']]


class LastRoundFrame(Event):
    """The last permitted round: no tools are offered."""

    type: Literal['last_round']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # What the agent works on.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`.
    turnId: str
    # The round of the conversation, from 0.
    iterationIndex: NotRequired[int]
    # The alias of the model.
    model: NotRequired[str]


class Limits(TypedDict):
    """What it may use; what has no limit is left out."""

    maxTotalSubtasks: NotRequired[int]
    maxTotalLlmCalls: NotRequired[int]
    maxTotalToolCalls: NotRequired[int]
    maxWallClockMs: NotRequired[int]
    maxTotalTokens: NotRequired[int]
    maxCostUsd: NotRequired[float]


class ListedFile(TypedDict):
    """A file in the folder of traces."""

    name: str
    type: str
    sizeBytes: int


class ListedTurn(TypedDict):
    """A turn of a conversation, and what it has used."""

    turnId: str
    threadId: str
    # The status of a run.
    status: Literal['ACCEPTED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED', 'REJECTED']
    startedAt: str
    # Null until it has ended.
    durationMs: int | None
    # -1 when some model did not say.
    totalTokens: int
    # Null when a model has no price.
    totalUsd: float | None


class ListedWorkflow(TypedDict):
    """A saved workflow in a list."""

    id: str
    name: str
    description: str | None
    tasks: int
    version: int
    createdAt: str
    updatedAt: str
    updatedBy: str
    # True where it cannot be read: then only its row is told.
    damaged: NotRequired[bool]
    # Why it cannot be read.
    damagedReason: NotRequired[str]


class Live(TypedDict):
    """Whether the server answers."""

    # A server that answers is up.
    status: Literal['UP']


class LlmCompletedFrame(ChatEvent):
    """A model has answered."""

    type: Literal['llm_completed']
    # The call that the subtask is; null for the conversation itself.
    parent_id: str | None
    # How deep the subtask is nested.
    depth: int
    # The model call.
    call_id: str
    # What it said.
    content: str


class LlmIterationCompletedFrameToolRequests(TypedDict):
    """A call that a model asks for."""

    # The tool.
    name: str
    # The arguments, as the model wrote them.
    arguments: str


class LlmIterationCompletedFrame(Event):
    """A model has answered."""

    type: Literal['llm_iteration_completed']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # What the agent works on.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`.
    turnId: str
    # The round of the conversation, from 0.
    iterationIndex: NotRequired[int]
    # Whether it answers or wants tools called.
    responseType: Literal['FINAL_ANSWER', 'TOOL_CALLS']
    # What it said.
    responseText: NotRequired[str]
    # The calls it wants made.
    toolRequests: NotRequired[list[LlmIterationCompletedFrameToolRequests]]
    # True when the reply ended at the output limit.
    truncated: NotRequired[bool]
    # Tokens it read.
    inputTokens: int
    # Tokens it wrote.
    outputTokens: int
    # How long it took.
    latencyMs: int


class LlmIterationStartedFrameMessagesToolCalls(TypedDict):
    """A call that a model asks for."""

    # The tool.
    name: str
    # The arguments, as the model wrote them.
    arguments: str


class LlmIterationStartedFrameMessages(TypedDict):
    """A message that a model is sent."""

    # Who says it.
    role: Literal['system', 'user', 'assistant', 'tool']
    # What is said.
    content: str | None
    # The calls it asks for.
    toolCalls: list[LlmIterationStartedFrameMessagesToolCalls] | None
    # The tool that answers.
    toolName: str | None


class LlmIterationStartedFrame(Event):
    """A model is asked."""

    type: Literal['llm_iteration_started']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # What the agent works on.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`.
    turnId: str
    # The round of the conversation, from 0.
    iterationIndex: int
    # The alias of the model.
    model: str
    # The newest messages it is sent.
    messages: list[LlmIterationStartedFrameMessages]
    # How many messages it is sent.
    totalMessageCount: int


class LlmStartedFrame(ChatEvent):
    """A model is asked."""

    type: Literal['llm_started']
    # The call that the subtask is; null for the conversation itself.
    parent_id: str | None
    # How deep the subtask is nested.
    depth: int
    # The model call.
    call_id: str
    # The alias of the model.
    model: str
    # The round of the conversation, from 0.
    iteration: int


class LlmVoidedFrame(ChatEvent):
    """A model did not answer; what it had said does not count."""

    type: Literal['llm_voided']
    # The call that the subtask is; null for the conversation itself.
    parent_id: str | None
    # How deep the subtask is nested.
    depth: int
    # The model call.
    call_id: str
    # What went wrong.
    message: str
    # What follows.
    then: Literal['retry', 'fallback', 'shorten', 'give_up']


class LoopNoticedFrame(Event):
    """The model has made the same failing call again and again, and is told so."""

    type: Literal['loop_noticed']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # What the agent works on.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`.
    turnId: str
    # The round of the conversation, from 0.
    iterationIndex: NotRequired[int]
    # The alias of the model.
    model: NotRequired[str]
    # The tool it called.
    toolName: str
    # How often.
    times: int


class McpServer(TypedDict):
    """A server whose tools come and go."""

    name: str
    # Names of its tools.
    tools: list[str]
    # Why none of them can be called at the moment.
    unavailable: NotRequired[str]


class Me(TypedDict):
    """The caller."""

    # The name of its key, which its threads belong to; `local` without keys.
    name: str
    # The owner of the runs that it begins.
    owner: str
    # What its key allows; everything without keys.
    scopes: list[Literal['read', 'run', 'review', 'tools', 'peer', 'admin']]
    # Whether its scopes extend to the runs of all owners.
    sees: Literal['own', 'all']


class MemoryEntry(TypedDict):
    """Something that is remembered."""

    key: str
    text: str
    createdAt: str


class MemoryOperations(TypedDict):
    """How often memory was used."""

    shortTermEntriesWritten: int
    longTermStores: int
    longTermRetrievals: int
    entityLookups: int


class Message(TypedDict):
    """A row of a conversation."""

    # Its id.
    id: str
    # Who said it.
    role: Literal['user', 'assistant', 'tool']
    # What was said.
    content: str
    # The calls it asks for.
    tool_calls: list[RowCall] | None
    # The call it answers.
    tool_call_id: str | None
    # A tool failed; of an assistant's row, the turn failed and `content` ends with why.
    is_error: bool
    # Why the turn failed, in an assistant's row.
    error: str | None
    # An answer that was cut at the output limit; the last one can be continued.
    truncated: bool
    # The id of the row it goes on with, which was cut.
    continues: str | None
    # Its turn.
    turn_id: str
    # The calls of the turn.
    execution_tree: ExecutionTree | None
    # When it was stored.
    created_at: str


class MessageFrameToolCalls(TypedDict):
    """A call that a row asks for."""

    # The call.
    id: str
    # The tool.
    name: str
    # Its arguments.
    args: Any


class MessageFrameExecutionTreeNodes(TypedDict):
    """A call of a turn."""

    # The call.
    id: str
    # The call of the subtask it was made in.
    parent_id: str | None
    # The tool.
    name: str
    # The title of a subtask.
    title: NotRequired[str]
    # The beginning of its arguments.
    args_preview: str
    # The beginning of its result.
    result_preview: str
    # Whether it failed.
    is_error: bool
    # How long it took.
    duration_ms: int


class MessageFrameExecutionTree(TypedDict):
    """The calls of the whole turn, with its last row."""

    # The version of this shape.
    version: int
    # The calls, in the order they were asked for.
    nodes: list[MessageFrameExecutionTreeNodes]


class MessageFrame(ChatEvent):
    """A row of the conversation."""

    type: Literal['message']
    # Its id.
    id: str
    # Who said it.
    role: Literal['user', 'assistant', 'tool']
    # What was said.
    content: str
    # The calls it asks for.
    tool_calls: list[MessageFrameToolCalls] | None
    # The call it answers.
    tool_call_id: str | None
    # Whether it is an error.
    is_error: bool
    # The reason for a failed turn, beside what had been said.
    error: str | None
    # Whether it is an answer that was cut at the output limit.
    truncated: bool
    # The id of the row it goes on with, which was cut.
    continues: str | None
    # The calls of the whole turn, with its last row.
    execution_tree: MessageFrameExecutionTree
    # When it was stored.
    created_at: str
    # The call that the subtask is; null for the conversation itself.
    parent_id: str | None
    # How deep the subtask is nested.
    depth: int
    # The model call that made it.
    call_id: NotRequired[str]


class Messages(TypedDict):
    """Everything that was said in a conversation."""

    messages: list[Message]


class Metrics(TypedDict):
    """What a run has used."""

    totalTokens: int
    totalToolCalls: int
    inputTokens: int
    outputTokens: int
    cachedInputTokens: int
    reasoningTokens: int
    llmCalls: int
    subtasks: int
    llmLatencyMs: int
    toolExecutionTimeMs: int
    costEstimate: NotRequired[Cost]
    # Models without a price, when the cost is not known.
    unpriced: NotRequired[list[str]]


class MetricsSnapshotFrame(Event):
    """What a task has used so far."""

    type: Literal['metrics_snapshot']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # What the agent works on.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`.
    turnId: str
    # Tokens read; -1 when unknown.
    inputTokens: int
    # Tokens written; -1 when unknown.
    outputTokens: int
    # Time spent waiting for models.
    llmLatencyMs: int
    # Time spent in tools.
    toolExecutionTimeMs: int
    # Model calls.
    iterationCount: int
    # US dollars, when the model has a price.
    costEstimate: NotRequired[str]


class Mined(TypedDict):
    """What came of looking through a turn for what is worth remembering."""

    turnId: str
    # The end of looking through a turn.
    status: Literal['COMPLETED', 'FAILED', 'CANCELLED', 'SKIPPED']
    # Why nothing could be remembered.
    reason: str | None
    # Facts that are from this turn.
    facts: int
    cost: MiningCost


class MiningCost(TypedDict):
    """What it took, beside what the turn took."""

    llmCalls: int
    inputTokens: int
    outputTokens: int
    totalUsd: float | None


class Mistake(TypedDict):
    """Something that is wrong with a request."""

    # Kinds of mistakes, with the names they have on the wire.
    error: Literal['BAD_REQUEST', 'INVALID_TOOL', 'INVALID_MODEL', 'INVALID_TASK_OVERRIDE', 'CIRCULAR_DEPENDENCY', 'MISSING_INPUT', 'INVALID_SCHEMA', 'TEMPLATE_TOO_LARGE', 'NOT_CONFIGURED', 'media_generation_unavailable']
    # A path into the request.
    place: str
    message: str


class Model(TypedDict):
    """A model that agents can ask."""

    alias: str
    provider: str
    contextTokens: int
    maxOutputTokens: int
    tools: bool
    parallelToolCalls: bool
    retries: int
    fallback: list[str]
    price: NotRequired[Price]


class ModelFailedFrameThen(TypedDict):
    """The model is asked again."""

    action: Literal['retry']
    # When.
    at: str


class ModelFailedFrameThen2(TypedDict):
    """Another model is asked."""

    action: Literal['fallback']
    # Its alias.
    model: str


class ModelFailedFrameThen3(TypedDict):
    """The model is asked again with a shorter history."""

    action: Literal['shorten']


class ModelFailedFrameThen4(TypedDict):
    """The task fails."""

    action: Literal['give_up']


class ModelFailedFrame(Event):
    """A model did not answer."""

    type: Literal['model_failed']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # What the agent works on.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`.
    turnId: str
    # The round of the conversation, from 0.
    iterationIndex: NotRequired[int]
    # The alias of the model.
    model: NotRequired[str]
    # The kind of failure.
    error: Literal['rate_limited', 'overloaded', 'timeout', 'network', 'malformed', 'overflow', 'unauthorized', 'refused', 'dropped']
    # What went wrong.
    message: str
    # What follows.
    then: ModelFailedFrameThen | ModelFailedFrameThen2 | ModelFailedFrameThen3 | ModelFailedFrameThen4


class ModelOptions(TypedDict):
    """How models answer; absent: as the next says it, in the order task, run, model, provider. A fallback of another provider is asked with what it has words for."""

    # For models of Anthropic at most 1.
    temperature: NotRequired[float | None]
    # The share of likely words that are chosen from.
    topP: NotRequired[float | None]
    # Refused for models of Anthropic and over OpenAI's responses, which have none.
    seed: NotRequired[int | None]
    # How long a model thinks, as far as the provider has it. One of none, minimal, low, medium, high, xhigh, max, in
    # any case.
    reasoningEffort: NotRequired[str | None]


class ModelRequest(TypedDict):
    """Which model a run is to ask."""

    # An alias.
    model: str


class ModelRetriedFrame(Event):
    """The same question is asked once more."""

    type: Literal['model_retried']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # What the agent works on.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`.
    turnId: str
    # The round of the conversation, from 0.
    iterationIndex: NotRequired[int]
    # The alias of the model.
    model: NotRequired[str]
    # Which attempt this is, from 1.
    attempt: int


class ModelSwitchedFrame(Event):
    """Every later model call goes to another model."""

    type: Literal['model_switched']
    # The alias from now on.
    model: NotRequired[str]
    # The alias before.
    previousModel: str
    # The first task it holds for, from 1; 0 when none is under way.
    taskIndex: int
    # The first round it holds for, from 0.
    iterationIndex: int
    # Who wanted it.
    by: str


class Network(TypedDict):
    """This ensemble and the others."""

    ensemble: str
    realm: str | None
    version: str
    leaseMs: int
    # Whether an ensemble takes work on.
    status: Literal['available', 'busy', 'draining']
    # How much of its room for peers' work is taken, from 0 to 1.
    currentLoad: float
    # How much it does for peers at a time.
    maxConcurrent: int
    sharedCapabilities: list[Capability]
    # How many are known here.
    capabilities: int
    peers: list[Peer]
    # Ensembles that were here and went away, the newest first, at most 100.
    gone: list[GonePeer]


class Options(TypedDict):
    """How a run is carried out."""

    # Characters of a tool's output that a model reads; -1 for all.
    maxToolOutputLength: NotRequired[int | None]
    # Characters of a tool's output in the log; -1 for all.
    toolLogTruncateLength: NotRequired[int | None]
    # The order of the tasks. One of SEQUENTIAL, PARALLEL, HIERARCHICAL, in any case.
    workflow: NotRequired[str | None]
    # Whether the log of the server tells what happens.
    verbose: NotRequired[bool | None]
    # Whose output a person looks at. One of NEVER, AFTER_EVERY_TASK, AFTER_LAST_TASK, in any case.
    reviewPolicy: NotRequired[str | None]
    # What ends a review that nobody decides in time. Where neither this nor `on_timeout` of the file is written,
    # reviews that a task demands wait for a person. One of CONTINUE, EXIT_EARLY, FAIL, in any case.
    onTimeout: NotRequired[str | None]
    # What an exported trace holds. One of OFF, STANDARD, FULL, DETAILED, in any case.
    captureMode: NotRequired[str | None]


class OutputRejectedFrame(Event):
    """The output breaks its schema and is sent back."""

    type: Literal['output_rejected']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # What the agent works on.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`.
    turnId: str
    # The round of the conversation, from 0.
    iterationIndex: NotRequired[int]
    # The alias of the model.
    model: NotRequired[str]
    # Everything that is wrong with it.
    violations: list[str]


class Override(TypedDict):
    """A change to a configured task."""

    # What to do.
    description: NotRequired[str | None]
    # What the output should be.
    expectedOutput: NotRequired[str | None]
    # What else the agent should know.
    additionalContext: NotRequired[str | None]
    # An alias.
    model: NotRequired[str | None]
    # How models answer.
    modelOptions: NotRequired[ModelOptions | None]
    # Rounds of model calls at most.
    maxIterations: NotRequired[int | str | None]
    # An answer cut at the output limit. One of continue, fail, accept, in any case.
    onTruncated: NotRequired[str | None]
    # Changes to its tools.
    tools: NotRequired[ToolChanges | None]


class Peer(TypedDict):
    """Another ensemble."""

    name: str
    connected: bool
    # Whether the link was opened from here.
    dialled: bool
    # Since when it is connected.
    since: NotRequired[str]
    ensemble: NotRequired[str]
    realm: NotRequired[str]
    version: NotRequired[str]
    # What it shares, or shared.
    sharedCapabilities: list[Capability]
    # Why there is no link, or what is wrong with what it says about itself.
    error: NotRequired[str]
    # Whether an ensemble takes work on.
    status: NotRequired[Literal['available', 'busy', 'draining']]
    currentLoad: NotRequired[float]
    maxConcurrent: NotRequired[int]
    # What it was asked for and has not answered, at most 100.
    requests: list[PeerRequest]


class PeerRequest(TypedDict):
    """Something a peer was asked for, and how far it says it is."""

    requestId: str
    capability: str
    # As the peer says, like the rest.
    status: NotRequired[str]
    message: NotRequired[str]
    percentComplete: NotRequired[int]


class PermissionModeChangedFrame(ChatEvent):
    """The turn may do more or less without asking."""

    type: Literal['permission_mode_changed']
    # What it may do now.
    permission_mode: Literal['plan', 'default', 'auto']
    # Who wanted it.
    by: str


class PlanningUpdateFrame(ChatEvent):
    """A workflow is being drawn."""

    type: Literal['planning_update']
    # The call that the subtask is; null for the conversation itself.
    parent_id: str | None
    # How deep the subtask is nested.
    depth: int
    # What is being done.
    phase: Literal['planning', 'validation']
    # How far it is.
    status: Literal['start', 'end', 'failed']
    # In words.
    content: str


class Position(TypedDict):
    """A place on the canvas."""

    # From the middle to the right.
    x: float
    # From the middle downwards.
    y: float


class PreconfiguredTask(TypedDict):
    """A configured task."""

    description: str
    tools: list[str]
    # The variables in its texts.
    variables: list[str]
    name: NotRequired[str]


class Price(TypedDict):
    """Dollars for a million tokens."""

    input: float
    output: float
    cachedInput: float


class Problem(TypedDict):
    """What went wrong: RFC 9457, with a code for programs. More fields may belong to a code."""

    type: str
    title: str
    status: int
    detail: str
    # The code for programs.
    error: Literal['APPROVAL_NOT_FOUND', 'APPROVAL_RESOLVED', 'BAD_REQUEST', 'CIRCULAR_DEPENDENCY', 'COLLECTION_EXISTS', 'COLLECTION_NOT_FOUND', 'CONCURRENCY_LIMIT', 'CONFLICT', 'DRAINING', 'FORBIDDEN', 'GRANT_NOT_FOUND', 'IDEMPOTENCY_CONFLICT', 'INTERNAL_ERROR', 'INVALID_INPUT', 'INVALID_MODEL', 'INVALID_SCHEMA', 'INVALID_TASK_OVERRIDE', 'INVALID_TOOL', 'LIMIT_REACHED', 'METHOD_NOT_ALLOWED', 'MISSING_INPUT', 'NOTHING_TO_CONTINUE', 'NOT_CONFIGURED', 'NOT_FOUND', 'OUTCOME_UNKNOWN', 'PAYLOAD_TOO_LARGE', 'PRECONDITION_FAILED', 'PRECONDITION_REQUIRED', 'REJECTED_TOO_OFTEN', 'REQUEST_TIMEOUT', 'REVIEW_NOT_FOUND', 'REVIEW_RESOLVED', 'RUN_ACTIVE', 'RUN_COMPLETED', 'RUN_NOT_FOUND', 'STARTING', 'STORAGE_DAMAGED', 'STORAGE_UNAVAILABLE', 'TEMPLATE_TOO_LARGE', 'THREAD_BUSY', 'THREAD_NOT_FOUND', 'TOOL_NOT_FOUND', 'TURN_NOT_RUNNING', 'UNAUTHORIZED', 'UNAVAILABLE', 'UNSUPPORTED_MEDIA_TYPE', 'VERSION_NOT_FOUND', 'WORKFLOW_NOT_FOUND', 'media_generation_unavailable']
    # The same as `detail`.
    message: str
    # The same as the header `X-Request-Id`.
    requestId: str
    # When to try again; also the header `Retry-After`.
    retryAfterMs: NotRequired[int]
    # Where the run stands, when that is why.
    runStatus: NotRequired[Literal['ACCEPTED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED', 'REJECTED']]
    # What was decided before.
    decision: NotRequired[str]
    # The turn that runs.
    turnId: NotRequired[str]
    # Everything that is wrong with a request.
    mistakes: NotRequired[list[Mistake]]
    # The version there is now.
    version: NotRequired[int]


class Quoted(TypedDict):
    """A message that a model is sent."""

    # Who says it.
    role: Literal['system', 'user', 'assistant', 'tool']
    # What is said.
    content: str | None
    # The calls it asks for.
    toolCalls: list[ToolRequest] | None
    # The tool that answers.
    toolName: str | None


class ReflectionStartedFrame(Event):
    """The model is asked what could be better next time."""

    type: Literal['reflection_started']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # What the agent works on.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`.
    turnId: str
    # The name of the task.
    taskName: NotRequired[str]


class Rehearsal(TypedDict):
    """What would run."""

    dryRun: Literal[True]
    tasks: list[RehearsedTask]
    # In which order tasks run.
    workflow: Literal['SEQUENTIAL', 'PARALLEL', 'HIERARCHICAL']
    warnings: list[str]


class RehearsedTask(TypedDict):
    """A task that would run."""

    name: str
    description: str
    expectedOutput: str
    agentRole: str
    model: str
    tools: list[str]
    context: list[str]


class Remembered(TypedDict):
    """What is remembered under a name."""

    scope: str
    # Who remembers.
    type: Literal['memory', 'reflection']
    entries: list[MemoryEntry]
    # True where it cannot be read: then only its row is told.
    damaged: NotRequired[bool]
    # Why it cannot be read.
    damagedReason: NotRequired[str]


class RememberedFact(TypedDict):
    """Something that is remembered about the caller."""

    id: str
    text: str
    # Where it was said.
    threadId: str
    turnId: str
    createdAt: str
    # True where it cannot be read: then only its row is told.
    damaged: NotRequired[bool]
    # Why it cannot be read.
    damagedReason: NotRequired[str]


class Review(TypedDict):
    """Something that waits for a person."""

    # The id to decide it by.
    reviewId: str
    # The run.
    runId: str
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # What the agent works on, or asks.
    taskDescription: str
    # The place of the task in the run.
    turnId: str
    # The name of the task.
    taskName: str
    # The output that is reviewed; empty before the task.
    taskOutput: str
    # Before, while or after the task is done.
    timing: Literal['BEFORE_EXECUTION', 'DURING_EXECUTION', 'AFTER_EXECUTION']
    # 0: it waits for ever.
    timeoutMs: int
    # What happens at `expiresAt`; absent when it waits for ever.
    onTimeout: NotRequired[Literal['CONTINUE', 'EXIT_EARLY', 'FAIL']]
    # When it was asked for.
    createdAt: str
    # Absent when it waits for ever.
    expiresAt: NotRequired[str]
    # What an agent asks.
    prompt: NotRequired[str]
    # Answers to choose from.
    options: NotRequired[list[str]]


class ReviewClosedFrame(Event):
    """There is nothing to decide any more."""

    type: Literal['review_closed']
    # The review.
    reviewId: str


class ReviewDecidedFrame(Event):
    """A person has decided."""

    type: Literal['review_decided']
    # The review.
    reviewId: str
    # The decision.
    decision: Literal['CONTINUE', 'EDIT', 'EXIT_EARLY', 'REJECT']
    # Who decided.
    by: str
    # The output that counts instead.
    revisedOutput: NotRequired[str]
    # What should be better.
    feedback: NotRequired[str]


class ReviewRequestedFrame(Event):
    """Something waits for a person."""

    type: Literal['review_requested']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # What the agent works on.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`.
    turnId: str
    # The name of the task.
    taskName: NotRequired[str]
    # The id to decide it by.
    reviewId: str
    # The output that is reviewed; empty before the task.
    taskOutput: str
    # Before, while or after the task is done.
    timing: Literal['BEFORE_EXECUTION', 'DURING_EXECUTION', 'AFTER_EXECUTION']
    # How long it waits; 0 for ever.
    timeoutMs: int
    # What follows when nobody decides in time.
    onTimeout: NotRequired[Literal['CONTINUE', 'EXIT_EARLY', 'FAIL']]
    # When it was asked for.
    createdAt: str
    # When it stops waiting.
    expiresAt: NotRequired[str]
    # The question of an agent.
    prompt: NotRequired[str]
    # The answers to choose from.
    options: NotRequired[list[str]]


class ReviewTimedOutFrame(Event):
    """Nobody decided in time."""

    type: Literal['review_timed_out']
    # The review.
    reviewId: str
    # What follows.
    action: Literal['CONTINUE', 'EXIT_EARLY', 'FAIL']


class Reviews(TypedDict):
    """What waits for a person."""

    total: int
    reviews: list[Review]


class RowCall(TypedDict):
    """A call that a row asks for."""

    # The call.
    id: str
    # The tool.
    name: str
    # Its arguments.
    args: Any


class Run(TypedDict):
    """A run in a list."""

    runId: str
    ensemble: str
    # The id of this execution, which its trace files are named after; in a list absent for runs of earlier versions.
    ensembleId: NotRequired[str]
    # Whose run it is: the owner of the key that began it, `local` without keys.
    owner: str
    # What it is about: the values of its inputs, or else its first task. Rows of earlier versions have none.
    title: NotRequired[str]
    # The beginning of its output, once it has completed.
    outputPreview: NotRequired[str]
    # The status of a run.
    status: Literal['ACCEPTED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED', 'REJECTED']
    # When it was submitted.
    startedAt: str
    # Null until it has ended.
    durationMs: int | None
    # How long it waited for its turn.
    queuedMs: NotRequired[int]
    # The run it retries.
    retryOf: NotRequired[str]
    forkedFrom: NotRequired[ForkedFrom]
    taskCount: int
    completedTasks: int
    # In which order tasks run.
    workflow: Literal['SEQUENTIAL', 'PARALLEL', 'HIERARCHICAL']
    # The model that tasks without one of their own ask. Rows of earlier versions have none.
    model: NotRequired[str]
    tags: dict[str, str]
    paused: bool
    cancelRequested: bool
    # -1 when some model did not say.
    totalTokens: int
    # The first task under way.
    currentTask: NotRequired[CurrentTask]
    # Why nothing happens just now. `queue`: it waits for a slot, at first or when it goes on after a review;
    # `queuePosition` says how many wait before it.
    waitingFor: NotRequired[Literal['queue', 'resume', 'model', 'lock', 'retry', 'review', 'approval', 'storage']]
    costEstimate: NotRequired[Cost]
    # Why it failed.
    error: NotRequired[str]
    # An output was cut at the output limit and taken all the same.
    truncated: NotRequired[bool]
    # Reviews that wait for a person.
    openReviews: NotRequired[list[str]]
    # How many go before it, while it waits.
    queuePosition: NotRequired[int]
    # True where it cannot be read: then only its row is told.
    damaged: NotRequired[bool]
    # Why it cannot be read.
    damagedReason: NotRequired[str]


class RunAcceptedFrameTasks(TypedDict):
    """A task, as it was declared."""

    # Its number, from 1.
    taskIndex: int
    # Its name.
    name: str
    # The role of its agent.
    agentRole: str
    # The numbers of the tasks it reads from.
    context: list[int]


class RunAcceptedFrame(RunEvent):
    """The run exists."""

    type: Literal['run_accepted']
    # The ensemble's name.
    ensemble: str
    # In which order its tasks run.
    workflow: Literal['SEQUENTIAL', 'PARALLEL', 'HIERARCHICAL']
    # How many tasks it has.
    totalTasks: int
    # Its tasks, as declared.
    tasks: list[RunAcceptedFrameTasks]


class RunAdoptedFrame(RunEvent):
    """A process has taken the run over; calls of the one before are lost."""

    type: Literal['run_adopted']
    # Counts the processes that had the run, from 1.
    epoch: int


class RunDetail(TypedDict):
    """Everything about a run that fits one answer."""

    runId: str
    ensemble: str
    # The id of this execution, which its trace files are named after; in a list absent for runs of earlier versions.
    ensembleId: NotRequired[str]
    # Whose run it is: the owner of the key that began it, `local` without keys.
    owner: str
    # What it is about: the values of its inputs, or else its first task. Rows of earlier versions have none.
    title: NotRequired[str]
    # The beginning of its output, once it has completed.
    outputPreview: NotRequired[str]
    # The status of a run.
    status: Literal['ACCEPTED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED', 'REJECTED']
    # When it was submitted.
    startedAt: str
    # Null until it has ended.
    durationMs: int | None
    # How long it waited for its turn.
    queuedMs: NotRequired[int]
    # The run it retries.
    retryOf: NotRequired[str]
    forkedFrom: NotRequired[ForkedFrom]
    taskCount: int
    completedTasks: int
    # In which order tasks run.
    workflow: Literal['SEQUENTIAL', 'PARALLEL', 'HIERARCHICAL']
    # The model that tasks without one of their own ask. Rows of earlier versions have none.
    model: NotRequired[str]
    tags: dict[str, str]
    paused: bool
    cancelRequested: bool
    # -1 when some model did not say.
    totalTokens: int
    # The first task under way.
    currentTask: NotRequired[CurrentTask]
    # Why nothing happens just now. `queue`: it waits for a slot, at first or when it goes on after a review;
    # `queuePosition` says how many wait before it.
    waitingFor: NotRequired[Literal['queue', 'resume', 'model', 'lock', 'retry', 'review', 'approval', 'storage']]
    costEstimate: NotRequired[Cost]
    # Why it failed.
    error: NotRequired[str]
    # An output was cut at the output limit and taken all the same.
    truncated: NotRequired[bool]
    # Reviews that wait for a person.
    openReviews: NotRequired[list[str]]
    # How many go before it, while it waits.
    queuePosition: NotRequired[int]
    # True where it cannot be read: then only its row is told.
    damaged: NotRequired[bool]
    # Why it cannot be read.
    damagedReason: NotRequired[str]
    inputs: dict[str, str]
    tasks: list[Task]
    # How many events it has.
    eventCount: int
    limits: Limits
    metrics: Metrics
    pendingReviews: list[Review]
    # What came out of the run: the output of the task that completed last, in a hierarchy the manager's answer; null
    # unless it completed. `run_result` says the same.
    output: str | None
    # `output` as data, when its task has a schema.
    parsedOutput: NotRequired[Any]
    completedAt: NotRequired[str]


class RunForkedFrameForkedFrom(TypedDict):
    """The run and the place in it that this one goes on from."""

    # The run.
    runId: str
    # The number of the event.
    seq: int


class RunForkedFrame(RunEvent):
    """The events before this one were copied from another run."""

    type: Literal['run_forked']
    # The run whose completed tasks were kept.
    retryOf: NotRequired[str]
    # The run and the place in it that this one goes on from.
    forkedFrom: NotRequired[RunForkedFrameForkedFrom]


class RunPausedFrame(Event):
    """Nothing new is begun until the run is resumed."""

    type: Literal['run_paused']
    # Who paused it.
    by: str


class RunRequest(TypedDict):
    """What is to be run; without `tasks` the configured ensemble. `null` means absent; unknown fields are named in `warnings`."""

    # Values of template variables.
    inputs: NotRequired[dict[str, str | float | bool | None] | None]
    # Labels to find it by.
    tags: NotRequired[dict[str, str | float | bool | None] | None]
    # The tasks.
    tasks: NotRequired[list[TaskRequest] | None]
    # Changes to configured tasks, by their names.
    taskOverrides: NotRequired[dict[str, Override] | None]
    # How it is carried out.
    options: NotRequired[Options | None]
    # How models answer.
    modelOptions: NotRequired[ModelOptions | None]
    # Only say what would run.
    dryRun: NotRequired[bool | None]


class RunResultFrameOutputs(TypedDict):
    """The output of a task."""

    # The name of the task.
    taskName: str
    # The output.
    output: str
    # How long the task took.
    durationMs: int
    # The output as data, when the task has a schema.
    parsedOutput: NotRequired[Any]
    # The output was cut at the output limit and taken all the same.
    truncated: NotRequired[bool]
    # The task ended in the run that this one goes on from.
    inherited: NotRequired[Literal[True]]


class RunResultFrameMetricsCostEstimate(TypedDict):
    """Money, in dollars."""

    inputCost: float
    outputCost: float


class RunResultFrameMetrics(TypedDict):
    """What it used."""

    totalTokens: int
    totalToolCalls: int
    inputTokens: int
    outputTokens: int
    cachedInputTokens: int
    reasoningTokens: int
    llmCalls: int
    subtasks: int
    llmLatencyMs: int
    toolExecutionTimeMs: int
    # Money, in dollars.
    costEstimate: NotRequired[RunResultFrameMetricsCostEstimate]
    # Models without a price, when the cost is not known.
    unpriced: NotRequired[list[str]]


class RunResultFrame(TypedDict):
    """What came of a run; it follows the last event."""

    type: Literal['run_result']
    # The run.
    runId: str
    # How it ended.
    status: Literal['ACCEPTED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED', 'REJECTED']
    # The outputs of its tasks, in the order in which they completed.
    outputs: list[RunResultFrameOutputs]
    # How long it took.
    durationMs: int
    # What it used.
    metrics: RunResultFrameMetrics
    # What came out of the run: the last of `outputs`, in a hierarchy the manager's answer; null unless it completed.
    output: str | None
    # `output` as data, when its task has a schema.
    parsedOutput: NotRequired[Any]
    # Why it failed.
    error: NotRequired[str]


class RunResumedFrame(Event):
    """The run goes on."""

    type: Literal['run_resumed']
    # Who resumed it.
    by: str


class Runs(TypedDict):
    """A page of runs."""

    runs: list[Run]
    total: int


class Said(TypedDict):
    """A message that was taken: it has begun, or waits."""

    threadId: str
    turnId: str
    # The first `chat_seq` of the turn.
    seq: NotRequired[int]
    # How many go before it, while it waits.
    queuePosition: NotRequired[int]


class Say(TypedDict):
    """A message."""

    # The words.
    content: str
    # The alias to ask.
    model: NotRequired[str | None]
    # `{kind: "editor", workflowId}`: the workflow that is open.
    chat_context: NotRequired[dict[str, Any] | str | None]
    # `workflow`: the workflow of `workflow_id` answers instead of the chat agent.
    workflow_target: NotRequired[str | None]
    # The workflow that answers, or is open.
    workflow_id: NotRequired[str | None]
    # Collections to look the answer up in.
    collections: NotRequired[list[str] | None]
    # Whether what is known of the user may be recalled and added to.
    memory_enabled: NotRequired[bool | None]
    # What may be done without asking.
    permission_mode: NotRequired[Literal['plan', 'default', 'auto'] | None]
    # What to do while another turn runs.
    if_busy: NotRequired[Literal['interrupt', 'reject', 'queue'] | None]


class Scope(TypedDict):
    """A name runs remember under."""

    scope: str
    # Who remembers.
    type: Literal['memory', 'reflection']
    entries: int
    # True where it cannot be read: then only its row is told.
    damaged: NotRequired[bool]
    # Why it cannot be read.
    damagedReason: NotRequired[str]


class Scopes(TypedDict):
    """Names that runs remember under."""

    scopes: list[Scope]
    total: int


class ServerSentEvent(TypedDict):
    """One event of a stream."""

    # The frame, or an `error` that ends the stream.
    data: str
    # The frame's type.
    event: NotRequired[str]
    # The event's number; what is not stored has none.
    id: NotRequired[str]


class Status(TypedDict):
    """How the server is."""

    # A server that answers runs.
    status: Literal['running']
    clients: int
    port: int
    # Where a server stands.
    lifecycleState: Literal['STARTING', 'READY', 'DRAINING']
    activeTasks: int
    queueDepth: int
    ensemble: str
    version: str
    sharedCapabilities: list[Capability]


class Steered(TypedDict):
    """What was asked of a run."""

    runId: str
    # What a run does now.
    status: Literal['CANCELLING', 'PAUSED', 'RESUMED']


class Stopped(TypedDict):
    """A turn that was stopped."""

    threadId: str
    turnId: str
    # A turn that was told to stop is stopping.
    status: Literal['STOPPING']


class Subtask(TypedDict):
    """A subtask under way."""

    id: str
    title: str
    depth: int
    tokenCount: int
    toolCallCount: int


class SubtaskStartedFrame(Event):
    """A call became a subtask."""

    type: Literal['subtask_started']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # What the agent works on.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`.
    turnId: str
    # The call, and from now on the subtask.
    callId: str
    # Its title.
    title: str
    # What it is told to do.
    instructions: str
    # The tools it may call.
    toolNames: list[str]
    # How deep it is nested, from 1.
    depth: int


class Switched(TypedDict):
    """A run that asks another model."""

    runId: str
    model: str
    previousModel: str | None
    # Something that holds from now on.
    status: Literal['APPLIED']


class Task(TypedDict):
    """A task of a run."""

    name: str
    description: str
    taskDescription: str
    agentRole: str
    # The stage of a task.
    status: Literal['PENDING', 'RUNNING', 'WAITING', 'COMPLETED', 'FAILED', 'CANCELLED', 'SKIPPED']
    # The task ended in the run that this one goes on from: its times and counts are that run's.
    inherited: NotRequired[Literal[True]]
    model: NotRequired[str]
    startedAt: NotRequired[str]
    completedAt: NotRequired[str]
    durationMs: NotRequired[int]
    tokenCount: NotRequired[int]
    toolCallCount: NotRequired[int]
    output: NotRequired[str]
    # The output as data, when the task has a schema.
    parsedOutput: NotRequired[Any]
    error: NotRequired[str]
    # What was said of an answer that was cut, where the task failed.
    partialOutput: NotRequired[str]
    # The output was cut at the output limit and taken all the same.
    truncated: NotRequired[bool]
    subtasks: NotRequired[list[Subtask]]


class TaskCompletedFrame(Event):
    """A task has its output."""

    type: Literal['task_completed']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # What the agent works on.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`.
    turnId: str
    # The name of the task.
    taskName: NotRequired[str]
    # How many tasks the run has.
    totalTasks: int
    # When it was done.
    completedAt: str
    # How long it took.
    durationMs: int
    # Tokens it used; -1 when unknown.
    tokenCount: int
    # Tool calls it made.
    toolCallCount: int
    # The output.
    output: NotRequired[str]
    # The output as data, where the task has a schema.
    parsedOutput: NotRequired[Any]
    # True when the output was cut at the output limit and is taken as it is.
    truncated: NotRequired[bool | None]


class TaskFailedFrame(Event):
    """A task has failed or was stopped."""

    type: Literal['task_failed']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # What the agent works on.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`.
    turnId: str
    # The name of the task.
    taskName: NotRequired[str]
    # When.
    failedAt: str
    # Why.
    reason: str
    # True when it was stopped.
    cancelled: NotRequired[bool]
    # The words of the answer that there were when it failed.
    partialOutput: NotRequired[str]


class TaskInputFrame(Event):
    """What the task's model is told first."""

    type: Literal['task_input']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # What the agent works on.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`.
    turnId: str
    # The name of the task.
    taskName: NotRequired[str]
    # The output that is asked for.
    expectedOutput: str
    # The goal of its agent.
    agentGoal: str
    # The background of its agent.
    agentBackground: str
    # The tools it may call.
    toolNames: list[str]
    # The prompt; a long one is cut.
    assembledContext: str
    # When it was made.
    sentAt: str


class TaskRequest(TypedDict):
    """A task a request brings."""

    # What to do; may have `{variables}`.
    description: str
    # Its name, unique in the run.
    name: NotRequired[str | None]
    # What the output should be.
    expectedOutput: NotRequired[str | None]
    # Who does it; derived from the description when absent.
    agent: NotRequired[AgentRequest | None]
    # What else the agent should know.
    additionalContext: NotRequired[str | None]
    # An alias.
    model: NotRequired[str | None]
    # How models answer.
    modelOptions: NotRequired[ModelOptions | None]
    # Tools the agent may call.
    tools: NotRequired[list[str] | None]
    # Tasks whose output it reads, as `$name` or an index.
    context: NotRequired[list[str] | None]
    # Rounds of model calls at most.
    maxIterations: NotRequired[int | str | None]
    # An answer cut at the output limit; continue when absent. One of continue, fail, accept, in any case.
    onTruncated: NotRequired[str | None]
    # A JSON Schema its output must fit.
    outputSchema: NotRequired[Any]
    # Whether a person looks at its output, whatever `reviewPolicy` says. One of required, skip, in any case.
    review: NotRequired[str | None]


class TaskSkippedFrame(Event):
    """A task will not run."""

    type: Literal['task_skipped']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # What the agent works on.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`.
    turnId: str
    # The name of the task.
    taskName: NotRequired[str]
    # Why.
    reason: str


class TaskStartedFrame(Event):
    """A task has begun."""

    type: Literal['task_started']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # What the agent works on.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`.
    turnId: str
    # The name of the task.
    taskName: NotRequired[str]
    # How many tasks the run has.
    totalTasks: int
    # When it began.
    startedAt: str


class TaskTrace(TypedDict):
    """A conversation of a run."""

    taskDescription: str
    expectedOutput: str
    agentRole: str
    startedAt: str
    completedAt: str | None
    duration: str
    prompts: TracePrompts | None
    llmInteractions: list[TraceRound]
    delegations: list[TraceDelegation]
    finalOutput: str | None
    parsedOutput: Any
    metrics: TraceMetrics
    metadata: TaskTraceMetadata
    # It was taken from the run that this one goes on from.
    inherited: NotRequired[Literal[True]]


class TaskTraceMetadata(TypedDict):
    """The task of a conversation."""

    taskName: str
    turnId: str
    # Calls of the run's own.
    chores: list[TraceCall]


class TaskUpdateFrameTask(TypedDict):
    """The task."""

    # Its name.
    name: NotRequired[str | None]
    # What is to be done.
    description: NotRequired[str | None]
    # The tools it may call.
    tools: NotRequired[list[str] | None]
    # The tasks it reads from.
    context: NotRequired[list[str] | None]
    # Its output.
    output: NotRequired[str | None]
    # Why it was skipped or failed.
    reason: NotRequired[str]


class TaskUpdateFrame(ChatEvent):
    """A task of a workflow was planned, begun or ended."""

    type: Literal['task_update']
    # The call that the subtask is; null for the conversation itself.
    parent_id: str | None
    # How deep the subtask is nested.
    depth: int
    # What happened.
    event: Literal['planned', 'started', 'completed', 'skipped', 'failed']
    # The task.
    task: TaskUpdateFrameTask


class Thread(TypedDict):
    """A conversation."""

    id: str
    title: str
    model: str | None
    createdAt: str
    updatedAt: str
    running: bool
    # The turn that runs.
    turnId: str | None
    # The number of its last frame.
    chatSeq: int | None
    # Messages that wait.
    queued: int
    memory: ThreadMemory
    # What its turns may do without asking, where a message does not say and it was changed.
    permissionMode: Literal['plan', 'default', 'auto'] | None
    # True where it cannot be read: then only its row is told.
    damaged: NotRequired[bool]
    # Why it cannot be read.
    damagedReason: NotRequired[str]


class ThreadChange(TypedDict):
    """What is to be different in a conversation."""

    title: NotRequired[str | None]
    permission_mode: NotRequired[Literal['plan', 'default', 'auto'] | None]


class ThreadMemory(TypedDict):
    """What was kept of turns whose messages asked for it with `memory_enabled`."""

    # Turns that are yet to be looked through.
    pending: list[str]
    last: Mined | None


class ThreadRequest(TypedDict):
    """A conversation that is to begin."""

    title: NotRequired[str | None]


class Threads(TypedDict):
    """The conversations of a client."""

    total: int
    threads: list[Thread]


class TokenFrame(TypedDict):
    """Words of a model of a run."""

    type: Literal['token']
    # The run.
    runId: str
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # What the agent works on.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`.
    turnId: str
    # The words.
    token: str
    # When they came.
    sentAt: str


class Tool(TypedDict):
    """A tool that agents can be given."""

    name: str
    description: str
    # Permission classes.
    permission: Literal['safe', 'knowledge', 'network', 'workspace_write', 'editor_mutate', 'subagent', 'secrets']
    # What doing a call twice would mean; decides what happens to one whose owner died.
    effect: Literal['read', 'idempotent', 'once']
    # A JSON Schema.
    inputSchema: Any
    # Whether it may be called directly.
    direct: bool
    # Why it cannot be called at the moment.
    unavailable: NotRequired[str]


class ToolApprovalRequestFrame(ChatEvent):
    """A call waits for permission."""

    type: Literal['tool_approval_request']
    # The call that the subtask is; null for the conversation itself.
    parent_id: str | None
    # How deep the subtask is nested.
    depth: int
    # The id to decide it by.
    approval_id: str
    # The call.
    tool_call_id: str
    # The tool.
    tool_name: str
    # The kind of effect it has.
    category: str
    # Its arguments.
    args: Any
    # The question.
    message: str
    # Why it is asked.
    reason: Literal['effect', 'taint', 'instructions']
    # The host, or the name of the MCP server or peer, that the arguments would go to.
    host: str | None
    # The size of the arguments in bytes.
    bytes: int
    # What the chat has read that its user did not write, where that is why it is asked.
    sources: list[str]
    # When it was asked.
    created_at: str
    # When it counts as denied.
    expires_at: str | None


class ToolApprovalResolvedFrame(ChatEvent):
    """That is decided."""

    type: Literal['tool_approval_resolved']
    # Its id.
    approval_id: str
    # The decision.
    decision: Literal['allow', 'allow_for_chat', 'deny', 'expired', 'closed']
    # Who decided.
    by: str


class ToolCallFrame(ChatEvent):
    """A call that the client is to make."""

    type: Literal['tool_call']
    # The call that the subtask is; null for the conversation itself.
    parent_id: str | None
    # How deep the subtask is nested.
    depth: int
    # The call.
    tool_call_id: str
    # The tool.
    name: str
    # Its arguments.
    args: Any
    # When the turn stops waiting for the result.
    expires_at: str


class ToolCallUpdateFrame(ChatEvent):
    """A tool call begins or has ended."""

    type: Literal['tool_call_update']
    # The call that the subtask is; null for the conversation itself.
    parent_id: str | None
    # How deep the subtask is nested.
    depth: int
    # The call.
    tool_call_id: str
    # The tool.
    name: str
    # Its arguments, at its beginning.
    args: NotRequired[Any]
    # Its result, at its end.
    result: NotRequired[str]
    # Whether it failed, at its end.
    is_error: NotRequired[bool]
    # Begin or end.
    status: Literal['start', 'end']
    # The title of a subtask, at its beginning.
    message: NotRequired[str | None]
    # How long it took, at its end.
    duration_ms: NotRequired[int]
    # The workflow that was drawn, at its end.
    data: NotRequired[Any]


class ToolCalledFrame(RunEvent):
    """A call has returned."""

    type: Literal['tool_called']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # What the agent works on.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`.
    turnId: str
    # The call.
    callId: str
    # The tool.
    toolName: str
    # How long it took.
    durationMs: int
    # Whether it worked.
    outcome: Literal['SUCCESS', 'FAILURE']
    # The arguments, as the model wrote them.
    toolArguments: str
    # The result in words.
    toolResult: str
    # The result as data, where the tool has one.
    structuredResult: Any


class ToolChanges(TypedDict):
    """Changes to the tools of a task."""

    # Tools it gets.
    add: NotRequired[list[str] | None]
    # Tools it loses.
    remove: NotRequired[list[str] | None]


class ToolDispatchedFrame(Event):
    """A tool is about to be called."""

    type: Literal['tool_dispatched']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # What the agent works on.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`.
    turnId: str
    # The call.
    callId: str
    # The tool.
    toolName: str
    # The arguments, as the model wrote them.
    toolArguments: str


class ToolProgressFrame(TypedDict):
    """How far a call is."""

    type: Literal['tool_progress']
    # A word for it.
    status: NotRequired[str]
    # A sentence for it.
    message: NotRequired[str]
    # The part that is done, in percent.
    percentComplete: NotRequired[int]
    # When it was said, in a run.
    sentAt: NotRequired[str]
    # The number of the frame it follows, in a chat.
    chat_seq: NotRequired[int]


class ToolRequest(TypedDict):
    """A call that a model asks for."""

    # The tool.
    name: str
    # The arguments, as the model wrote them.
    arguments: str


class Trace(TypedDict):
    """A run as it is exported for reading."""

    schemaVersion: str
    # What an exported trace holds.
    captureMode: Literal['OFF', 'STANDARD', 'FULL']
    ensembleId: str
    # In which order tasks run.
    workflow: Literal['SEQUENTIAL', 'PARALLEL', 'HIERARCHICAL']
    startedAt: str
    completedAt: str | None
    totalDuration: str
    inputs: dict[str, str]
    agents: list[TracedAgent]
    taskTraces: list[TaskTrace]
    metrics: TraceMetrics
    totalCostEstimate: TraceCost | None
    errors: list[TraceError]
    mapReduceLevels: list[Any]
    metadata: TraceMetadata


class TraceCall(TypedDict):
    """A call of a tool."""

    toolName: str
    arguments: str
    result: str
    structuredOutput: Any
    startedAt: str
    completedAt: str
    duration: str
    # The end of a call; an error where nobody knows whether it worked.
    outcome: Literal['SUCCESS', 'FAILURE', 'ERROR']
    parsedInput: Any
    metadata: dict[str, Any]
    # It was taken from the run that this one goes on from.
    inherited: NotRequired[Literal[True]]


class TraceCost(TypedDict):
    """Money."""

    inputCost: float
    outputCost: float
    totalCost: float
    currency: str


class TraceDelegation(TypedDict):
    """Work that one agent handed to another."""

    delegatorRole: str
    workerRole: str
    taskDescription: str
    startedAt: str
    completedAt: str | None
    duration: str
    depth: int
    result: str | None
    succeeded: bool
    workerTrace: TaskTrace | None


class TraceError(TypedDict):
    """Something that went wrong."""

    taskDescription: str | None
    agentRole: str | None
    turnId: str
    message: str
    at: str
    # It was taken from the run that this one goes on from.
    inherited: NotRequired[Literal[True]]


class TraceMetadata(TypedDict):
    """The run of a trace."""

    ensemble: str
    # The status of a run.
    status: Literal['ACCEPTED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED', 'REJECTED']
    error: str | None
    exitReason: str | None
    tags: dict[str, str]


class TraceMetrics(TypedDict):
    """What a run or a conversation has used."""

    # -1 when some model did not say.
    inputTokens: int
    # -1 when some model did not say.
    outputTokens: int
    # -1 when some model did not say.
    totalTokens: int
    llmLatency: str
    toolExecutionTime: str
    memoryRetrievalTime: str
    promptBuildTime: str
    llmCallCount: int
    toolCallCount: int
    delegationCount: int
    costEstimate: TraceCost | None
    memoryOperations: MemoryOperations


class TracePrompts(TypedDict):
    """The beginning of a conversation."""

    systemPrompt: str
    userPrompt: str


class TraceRound(TypedDict):
    """A question to a model that was answered."""

    iterationIndex: int
    startedAt: str
    completedAt: str
    latency: str
    # -1 when the model did not say.
    inputTokens: int
    # -1 when the model did not say.
    outputTokens: int
    # The kind of a model's answer.
    responseType: Literal['FINAL_ANSWER', 'TOOL_CALLS']
    responseText: str
    toolCalls: list[TraceCall]
    messages: list[Quoted]
    # It was taken from the run that this one goes on from.
    inherited: NotRequired[Literal[True]]


class TracedAgent(TypedDict):
    """The agent of a task."""

    role: str
    goal: str
    background: str
    toolNames: list[str]
    allowDelegation: bool


class TreeNode(TypedDict):
    """A call of a turn."""

    # The call.
    id: str
    # The call of the subtask it was made in.
    parent_id: str | None
    # The tool.
    name: str
    # The title of a subtask.
    title: NotRequired[str]
    # The beginning of its arguments.
    args_preview: str
    # The beginning of its result.
    result_preview: str
    # Whether it failed.
    is_error: bool
    # How long it took.
    duration_ms: int


class TurnAdoptedFrame(ChatEvent):
    """A process has taken the turn over; calls of the one before are lost."""

    type: Literal['turn_adopted']
    # Counts the processes that had the turn, from 1.
    epoch: int


class TurnStartedFrame(ChatEvent):
    """The turn begins."""

    type: Literal['turn_started']
    # The alias of its model.
    model: str
    # What it may do without asking.
    permission_mode: Literal['plan', 'default', 'auto']


class TurnStoppedFrame(ChatEvent):
    """The turn was stopped."""

    type: Literal['turn_stopped']


class Turns(TypedDict):
    """A page of turns."""

    turns: list[ListedTurn]
    total: int


class Versions(TypedDict):
    """A page of the versions of a workflow."""

    versions: list[WorkflowVersion]
    total: int


class Workflow(TypedDict):
    """A version of a saved workflow."""

    id: str
    version: int
    createdAt: str
    updatedAt: str
    updatedBy: str
    # What it is called.
    name: str
    # What it is for.
    description: NotRequired[str]
    # The tasks as they were sent, each with its place on the canvas.
    tasks: list[WorkflowTask]
    # Defaults for template variables.
    inputs: NotRequired[dict[str, str]]
    # Options of its runs, as they were sent.
    options: NotRequired[Options]
    # How models answer in its runs, as it was sent.
    modelOptions: NotRequired[ModelOptions]
    warnings: NotRequired[list[str]]


class WorkflowDocument(TypedDict):
    """A task graph as people draw it; what was shown may be sent back."""

    # What it is called.
    name: str
    # Its tasks.
    tasks: list[WorkflowTask]
    # What it is for.
    description: NotRequired[str | None]
    # Defaults for template variables.
    inputs: NotRequired[dict[str, str | float | bool | None] | None]
    # How its runs are carried out.
    options: NotRequired[Options | None]
    # How models answer in its runs.
    modelOptions: NotRequired[ModelOptions | None]


class WorkflowRun(TypedDict):
    """What a run of a workflow brings."""

    # Values of template variables.
    inputs: NotRequired[dict[str, str | float | bool | None] | None]
    # Labels to find it by.
    tags: NotRequired[dict[str, str | float | bool | None] | None]
    # How it is carried out.
    options: NotRequired[Options | None]
    # How models answer.
    modelOptions: NotRequired[ModelOptions | None]
    # Only say what would run.
    dryRun: NotRequired[bool | None]


class WorkflowTask(TypedDict):
    """A task, and where it stands on the canvas."""

    # What to do; may have `{variables}`.
    description: str
    # Its name, unique in the run.
    name: NotRequired[str | None]
    # What the output should be.
    expectedOutput: NotRequired[str | None]
    # Who does it; derived from the description when absent.
    agent: NotRequired[AgentRequest | None]
    # What else the agent should know.
    additionalContext: NotRequired[str | None]
    # An alias.
    model: NotRequired[str | None]
    # How models answer.
    modelOptions: NotRequired[ModelOptions | None]
    # Tools the agent may call.
    tools: NotRequired[list[str] | None]
    # Tasks whose output it reads, as `$name` or an index.
    context: NotRequired[list[str] | None]
    # Rounds of model calls at most.
    maxIterations: NotRequired[int | str | None]
    # An answer cut at the output limit; continue when absent. One of continue, fail, accept, in any case.
    onTruncated: NotRequired[str | None]
    # A JSON Schema its output must fit.
    outputSchema: NotRequired[Any]
    # Whether a person looks at its output, whatever `reviewPolicy` says. One of required, skip, in any case.
    review: NotRequired[str | None]
    # Its place on the canvas.
    position: NotRequired[Position | None]


class WorkflowVersion(TypedDict):
    """A version in the history of a workflow."""

    version: int
    savedAt: str
    savedBy: str
    name: str
    description: str | None
    tasks: int
    # True where it cannot be read: then only its row is told.
    damaged: NotRequired[bool]
    # Why it cannot be read.
    damagedReason: NotRequired[str]


class Workflows(TypedDict):
    """A page of saved workflows."""

    workflows: list[ListedWorkflow]
    total: int


class WorkspaceItem(TypedDict):
    """A file or a folder of the workspace."""

    name: str
    # What is in a folder.
    type: Literal['file', 'directory']
    size: NotRequired[int]
    lastModified: NotRequired[str]


AnswerEmptyFrame: TypeAlias = "AnswerEmptyFrame1 | AnswerEmptyFrame2"

AnswerTruncatedFrame: TypeAlias = "AnswerTruncatedFrame1 | AnswerTruncatedFrame2"

ChunkFrame: TypeAlias = "ChunkFrame1 | ChunkFrame2"

# A frame of an event, or of something under way; `type` says which.
Frame: TypeAlias = "RunAcceptedFrame | RunAdoptedFrame | RunForkedFrame | EnsembleStartedFrame | BeltComposedFrame | TaskStartedFrame | TaskInputFrame | ChoreStartedFrame | ReflectionStartedFrame | LlmIterationStartedFrame | ModelRetriedFrame | LlmIterationCompletedFrame | AnswerTruncatedFrame | AnswerEmptyFrame | MetricsSnapshotFrame | ModelFailedFrame | HistoryDroppedFrame | OutputRejectedFrame | LastRoundFrame | LoopNoticedFrame | CallChargedFrame | ToolDispatchedFrame | FinishDemandedFrame | SubtaskStartedFrame | DelegationStartedFrame | DelegationCompletedFrame | DelegationFailedFrame | ToolCalledFrame | FileChangedFrame | ReviewRequestedFrame | ReviewDecidedFrame | ReviewTimedOutFrame | ReviewClosedFrame | TaskCompletedFrame | TaskFailedFrame | TaskSkippedFrame | DirectiveActiveFrame | DirectiveDeliveredFrame | ModelSwitchedFrame | CancelRequestedFrame | RunPausedFrame | RunResumedFrame | BudgetExceededFrame | EnsembleCompletedFrame | TurnAdoptedFrame | TurnStartedFrame | LlmStartedFrame | LlmCompletedFrame | LlmVoidedFrame | MessageFrame | ToolCallUpdateFrame | ToolCallFrame | ToolApprovalRequestFrame | ToolApprovalResolvedFrame | GrantWithdrawnFrame | PermissionModeChangedFrame | PlanningUpdateFrame | TaskUpdateFrame | TurnStoppedFrame | ErrorFrame | ChunkFrame | CostSummaryFrame | TokenFrame | ToolProgressFrame | RunResultFrame"
