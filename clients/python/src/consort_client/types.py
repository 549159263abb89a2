"""The values of the API. Made from openapi.json by `python generate.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired, TypeAlias


class Accepted(TypedDict):
    """An accepted run."""

    runId: str
    # The status of an accepted run.
    status: Literal['ACCEPTED']
    tasks: int
    # The order of the tasks.
    workflow: Literal['SEQUENTIAL', 'PARALLEL', 'HIERARCHICAL']
    warnings: NotRequired[list[str]]
    # The run it retries.
    retryOf: NotRequired[str]
    forkedFrom: NotRequired[ForkedFrom]
    # The number of runs before it in the queue, while it waits.
    queuePosition: NotRequired[int]


class AddedDocument(TypedDict):
    """A document that was stored."""

    id: int
    collection: str
    title: str
    # Whether it is found by its meaning too. False without `[chat] embeddings`, and while that model does not answer:
    # it is asked again later.
    embedded: bool
    # The fields of the request that were ignored, because they are unknown.
    warnings: NotRequired[list[str]]


class AgentRequest(TypedDict):
    """The agent of a task."""

    # The role.
    role: str
    # The goal; the description when absent.
    goal: NotRequired[str | None]
    # The background: the agent's experience.
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
    """The model's reply was empty."""

    type: Literal['answer_empty']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # The description of the task.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round
    # 1.
    turnId: str
    # The index of the item that the task is done for, from 0.
    item: NotRequired[int]
    # The round of its group, from 0.
    round: NotRequired[int]
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
    """The model's reply was empty."""

    type: Literal['answer_empty']
    # The call that the subtask is; null for the turn itself.
    parent_id: str | None
    # The nesting depth of the subtask.
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
    # The description of the task.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round
    # 1.
    turnId: str
    # The index of the item that the task is done for, from 0.
    item: NotRequired[int]
    # The round of its group, from 0.
    round: NotRequired[int]
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
    # The call that the subtask is; null for the turn itself.
    parent_id: str | None
    # The nesting depth of the subtask.
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
    # The status of a change that is applied.
    status: Literal['APPLIED']
    # The fields of the request that were ignored, because they are unknown.
    warnings: NotRequired[list[str]]


class Approval(TypedDict):
    """A call of a chat that waits for a person."""

    # The call that the subtask is; null for the turn itself.
    parent_id: str | None
    # The nesting depth of the subtask.
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
    # The reason for the question.
    reason: Literal['effect', 'taint', 'instructions']
    # The host, or the name of the MCP server or peer, that the arguments would go to.
    host: str | None
    # The size of the arguments in bytes.
    bytes: int
    # The sources that the chat has read and its user did not write, where they are the reason for the question.
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
    """A person's answer to a question for permission."""

    # One of allow, allow_for_chat, deny, in any case.
    decision: str
    # The arguments to make the call with, in the place of the model's; only with `allow`.
    args: NotRequired[dict[str, Any] | None]


class Approvals(TypedDict):
    """The calls of a client's chats that wait for a person."""

    total: int
    approvals: list[Approval]


class Attached(TypedDict):
    """A file that is attached to a message or a task: a name for bytes that are stored apart."""

    # The id of the attachment.
    id: str
    # The name of the file.
    name: str
    # The type of the file.
    media_type: str
    # The size of the file in bytes.
    bytes: int


class Attachment(TypedDict):
    """A file that was uploaded."""

    id: str
    name: str
    mediaType: str
    bytes: int
    # The hash of the file, in hexadecimal digits.
    sha256: str


class BegunHook(TypedDict):
    """A hook that began a run."""

    name: str
    # The delivery, as its sender named it.
    deliveryId: str


class BegunSchedule(TypedDict):
    """A schedule that began a run."""

    name: str
    # When the run was due.
    due: str


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
    # The description of the task.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round
    # 1.
    turnId: str
    # The index of the item that the task is done for, from 0.
    item: NotRequired[int]
    # The round of its group, from 0.
    round: NotRequired[int]
    # The name of the task.
    taskName: NotRequired[str]
    # The tools that were found.
    toolNames: list[str]


class Branch(TypedDict):
    """The place in another chat at which one branches off."""

    # The other chat, which may have been erased since.
    threadId: str
    # The turn of it before which this one branches off.
    turnId: str


class BranchRequest(TypedDict):
    """The place in another chat at which one branches off."""

    # The other chat.
    thread_id: str
    # The turn of it before which the new one branches off.
    before: str


class BudgetExceededFrame(Event):
    """The next step would pass a limit."""

    type: Literal['budget_exceeded']
    # The limit.
    reason: Literal['subtasks', 'llm_calls', 'tool_calls', 'wall_clock', 'tokens', 'cost']
    # The limit; US dollars where it is money.
    limit: float
    # The amount that the step would have reached.
    observed: float


class BudgetRaisedFrameLimits(TypedDict):
    """The limits from now on."""

    maxTotalSubtasks: NotRequired[int]
    maxTotalLlmCalls: NotRequired[int]
    maxTotalToolCalls: NotRequired[int]
    maxWallClockMs: NotRequired[int]
    maxTotalTokens: NotRequired[int]
    maxCostUsd: NotRequired[float]


class BudgetRaisedFrame(Event):
    """Some of the run's limits were raised."""

    type: Literal['budget_raised']
    # The limits from now on.
    limits: BudgetRaisedFrameLimits
    # The name of the caller that raised them.
    by: str


class BudgetRequest(TypedDict):
    """The limits to raise; the others stay as they are."""

    maxTotalSubtasks: NotRequired[int | None]
    maxTotalLlmCalls: NotRequired[int | None]
    maxTotalToolCalls: NotRequired[int | None]
    maxWallClockMs: NotRequired[int | None]
    maxTotalTokens: NotRequired[int | None]
    maxCostUsd: NotRequired[float | None]


class CallChargedFrame(Event):
    """Another ensemble has reported the cost of a call."""

    type: Literal['call_charged']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # The description of the task.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round
    # 1.
    turnId: str
    # The index of the item that the task is done for, from 0.
    item: NotRequired[int]
    # The round of its group, from 0.
    round: NotRequired[int]
    # The call.
    callId: str
    # Tokens it used.
    tokens: int
    # US dollars it cost.
    cost: float


class CancelRequest(TypedDict):
    """A request to cancel a run."""

    # The point at which it stops; after_task when absent. One of after_task, after_iteration, now, in any case.
    mode: NotRequired[str | None]


class CancelRequestedFrame(Event):
    """A person wants the run to stop."""

    type: Literal['cancel_requested']
    # The point at which the run stops.
    mode: Literal['after_task', 'after_iteration', 'now']
    # The name of the caller that cancels it.
    by: str


class Capabilities(TypedDict):
    """Everything that a request can choose from."""

    tools: list[Tool]
    models: list[Model]
    preconfiguredTasks: list[PreconfiguredTask]
    # The default values of template variables.
    inputs: dict[str, Any]
    sharedTasks: list[Capability]
    sharedTools: list[Capability]
    # Servers whose tools come and go.
    mcpServers: list[McpServer]


class Capability(TypedDict):
    """A capability that others may use."""

    # The name, unique in its ensemble.
    name: str
    # The description for the model.
    description: str
    # Tool or task.
    type: Literal['TASK', 'TOOL']
    # Words that it is found by.
    tags: list[str]
    # The JSON Schema of its input; absent: the input is a text.
    schema: NotRequired[Any]
    # The version.
    version: NotRequired[str]
    # The effect of doing it twice; absent: it must not be done twice.
    effect: NotRequired[Literal['read', 'idempotent', 'once']]
    # The time it may take.
    timeoutMs: NotRequired[int]


class ChatCompletion(TypedDict):
    """A chat completion."""

    id: str
    object: Literal['chat.completion']
    # When it was asked for, in seconds since 1970.
    created: int
    model: str
    choices: list[CompletionChoice]
    usage: CompletionUsage
    conversation: NotRequired[CompletionConversation]
    # The parts of the request that were ignored.
    warnings: NotRequired[list[str]]


class ChoreStartedFrame(Event):
    """The run itself makes calls for a task."""

    type: Literal['chore_started']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # The description of the task.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round
    # 1.
    turnId: str
    # The index of the item that the task is done for, from 0.
    item: NotRequired[int]
    # The round of its group, from 0.
    round: NotRequired[int]
    # The name of the task.
    taskName: NotRequired[str]
    # The purpose of the calls.
    chore: Literal['recall', 'guard_input', 'handle', 'guard_output', 'remember']
    # The tools that are called.
    toolNames: list[str]


class ChunkFrame1(ChatEvent):
    """The turn has ended; the last frame."""

    type: Literal['chunk']
    # Always empty.
    content: str
    # Always true.
    done: Literal[True]
    # The call that the subtask is; null for the turn itself.
    parent_id: str | None
    # The nesting depth of the subtask.
    depth: int
    # The final status.
    status: Literal['ACCEPTED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED', 'REJECTED']


class ChunkFrame2(TypedDict):
    """Words of a model of a chat."""

    type: Literal['chunk']
    # The thread.
    thread_id: str
    # The turn.
    turn_id: str
    # The call that the subtask is; null for the turn itself.
    parent_id: str | None
    # The nesting depth of the subtask.
    depth: int
    # The model call.
    call_id: str
    # The text.
    content: str
    # The position of the words in the answer, or in the model's reasoning, in bytes.
    offset: int
    # True when they are reasoning and no part of the answer.
    thinking: NotRequired[Literal[True]]
    # The number of the frame they follow.
    chat_seq: int


class Collection(TypedDict):
    """Documents to be searched."""

    name: str
    documents: int
    createdAt: str
    updatedAt: str
    # True where it cannot be read: then only the data of its row is shown.
    damaged: NotRequired[bool]
    # The reason why it cannot be read.
    damagedReason: NotRequired[str]
    # The fields of the request that were ignored, because they are unknown.
    warnings: NotRequired[list[str]]


class CollectionRequest(TypedDict):
    """A collection that is to be made."""

    name: str


class Collections(TypedDict):
    """All collections."""

    collections: list[Collection]


class Compacted(TypedDict):
    """A store without what was deleted from it."""

    # The status of a store that was compacted.
    status: Literal['COMPACTED']
    # The fields of the request that were ignored, because they are unknown.
    warnings: NotRequired[list[str]]


class CompletionChoice(TypedDict):
    """The answer; there is one."""

    index: int
    message: CompletionMessage
    # The reason why the answer ends.
    finish_reason: Literal['stop', 'length']
    logprobs: None


class CompletionConversation(TypedDict):
    """The chat that an answer belongs to."""

    # The id of its thread.
    id: str


class CompletionDetails(TypedDict):
    """The part of the answer that was reasoning."""

    reasoning_tokens: int


class CompletionMessage(TypedDict):
    """The message of the model."""

    role: Literal['assistant']
    content: str
    refusal: None
    # The work that was done for the answer: a line for each tool call or task.
    reasoning_content: NotRequired[str]


class CompletionRequest(TypedDict):
    """A chat completion that is asked for; fields of OpenAI's that are not listed change nothing."""

    # `consort`, or `consort/<name>`.
    model: str
    # The conversation; the last message is the user's. Parts of the user's messages may be pictures (`image_url`) and
    # files (`file`), as `data:` addresses or by the `file_id` of an attachment.
    messages: list[dict[str, Any]]
    # Send the answer as it comes.
    stream: NotRequired[bool | None]
    stream_options: NotRequired[dict[str, Any] | None]
    # The thread to go on with, or a name of your own for one; without it the request is a conversation of its own,
    # which is erased after a day.
    conversation: NotRequired[str | None]
    # Inputs of a run.
    metadata: NotRequired[dict[str, Any] | None]
    temperature: NotRequired[float | None]
    top_p: NotRequired[float | None]
    seed: NotRequired[int | None]
    reasoning_effort: NotRequired[str | None]


class CompletionUsage(TypedDict):
    """The tokens of everything that was done for the answer."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: PromptDetails
    completion_tokens_details: CompletionDetails


class Cost(TypedDict):
    """The cost, in dollars."""

    inputCost: float
    outputCost: float


class CostSummaryFrameByModel(TypedDict):
    """The usage of one model."""

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
    # Whether it did not report all of its tokens: then there were more.
    tokens_unknown: NotRequired[bool]


class CostSummaryFrame(ChatEvent):
    """The usage of the turn."""

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
    # The time of work.
    wall_ms: int
    # The same for each model.
    by_model: list[CostSummaryFrameByModel]
    # Models without a price.
    unpriced_models: list[str]
    # Whether a model did not report all of its tokens: then there were more.
    tokens_unknown: NotRequired[bool]


class CurrentTask(TypedDict):
    """A task that is under way."""

    name: str
    index: int


class Decided(TypedDict):
    """A decision that holds."""

    reviewId: str
    decision: str
    # The status of a change that is applied.
    status: Literal['APPLIED']
    # The fields of the request that were ignored, because they are unknown.
    warnings: NotRequired[list[str]]


class DecisionRequest(TypedDict):
    """A person's decision about an output."""

    # The decision; APPROVE is the same as CONTINUE. One of CONTINUE, APPROVE, EDIT, EXIT_EARLY, REJECT, in any case.
    decision: str
    # The new output; required for EDIT.
    revisedOutput: NotRequired[str | None]
    # The feedback; required for REJECT.
    feedback: NotRequired[str | None]


class DelegationCompletedFrame(Event):
    """An agent has done the work it was handed."""

    type: Literal['delegation_completed']
    # The call that handed it over.
    delegationId: str
    # The role of the agent that handed it over.
    delegatingAgentRole: NotRequired[str]
    # The role of the agent that does it.
    workerRole: str
    # The duration.
    durationMs: int


class DelegationFailedFrame(Event):
    """An agent has failed, or could not be handed work."""

    type: Literal['delegation_failed']
    # The call that handed it over.
    delegationId: str
    # The role of the agent that handed it over.
    delegatingAgentRole: NotRequired[str]
    # The role of the agent that does it.
    workerRole: str
    # The reason.
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


class Deliveries(TypedDict):
    """A page of deliveries to a webhook."""

    deliveries: list[Delivery]
    total: int


class Delivery(TypedDict):
    """A delivery as clients see it."""

    # The id of the message, the same on every attempt: the header `webhook-id`.
    id: str
    # The topic of an announcement.
    event: Literal['run.completed', 'run.failed', 'run.cancelled', 'review.requested', 'approval.requested']
    # The run; of an approval the turn.
    runId: str
    # The state of a delivery.
    status: Literal['pending', 'delivered', 'dead']
    # The oldest first.
    attempts: list[DeliveryAttempt]
    # When it is tried next; null when it is not.
    nextAt: str | None
    # The fields of the request that were ignored, because they are unknown.
    warnings: NotRequired[list[str]]


class DeliveryAttempt(TypedDict):
    """An attempt to deliver a message."""

    at: str
    # The status of the answer; null when there was none.
    status: int | None
    error: str | None


# A directive was given to the agents.
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
    """An agent reads a directive with its next model call."""

    type: Literal['directive_delivered']
    # Its id.
    directiveId: str
    # The task that reads it, from 1.
    taskIndex: int
    # The round that reads it, from 0.
    iterationIndex: int


class Document(TypedDict):
    """A document with its text."""

    id: int
    title: str
    mediaType: str
    # The size of the file that it was.
    bytes: int
    createdAt: str
    # True where it cannot be read: then only the data of its row is shown.
    damaged: NotRequired[bool]
    # The reason why it cannot be read.
    damagedReason: NotRequired[str]
    # The text that is searched: HTML as Markdown, of a PDF and a DOCX file the words.
    content: str
    # The number of its pages, if it has pages.
    pages: NotRequired[int]


class DocumentRequest(TypedDict):
    """A document that is to be stored."""

    title: str
    content: str


class Documents(TypedDict):
    """The documents of a collection."""

    documents: list[ListedDocument]


class Drained(TypedDict):
    """A server that is about to stop."""

    # The status of a server that was asked to stop.
    status: Literal['DRAINING']
    # The fields of the request that were ignored, because they are unknown.
    warnings: NotRequired[list[str]]


class Edits(TypedDict):
    """Changes a new run begins with."""

    # The first event that is not taken over; everything when absent. For forks.
    seq: NotRequired[int | None]
    # Instead of `seq`: what stands before this task began is taken over. For forks.
    task: NotRequired[str | None]
    # Values of template variables, of any type.
    inputs: NotRequired[dict[str, Any] | None]
    # Labels to find it by.
    tags: NotRequired[dict[str, str | float | bool | None] | None]
    # The alias of the model to ask.
    model: NotRequired[str | None]
    # Other outputs of tasks that are taken over, by their names: the tasks that read them go on with these. A fork
    # without `seq` and `task` then begins before the first of those tasks.
    outputs: NotRequired[dict[str, str] | None]
    # Changes to tasks that have not begun, by their names.
    taskOverrides: NotRequired[dict[str, Override] | None]
    # Settings for the execution of the run.
    options: NotRequired[Options | None]
    # Options for the models' answers.
    modelOptions: NotRequired[ModelOptions | None]
    # Whether to only report what would run.
    dryRun: NotRequired[bool | None]


class EnsembleCompletedFrame(RunEvent):
    """The run is over."""

    type: Literal['ensemble_completed']
    # The id of this execution.
    ensembleId: str
    # When it ended.
    completedAt: str
    # The duration of the run.
    durationMs: int
    # The reason why it ended.
    exitReason: Literal['COMPLETED', 'USER_EXIT_EARLY', 'TIMEOUT', 'ERROR', 'CANCELLED']
    # Tokens used; -1 when unknown.
    totalTokens: int
    # Tool calls made.
    totalToolCalls: int
    # The reason why it failed.
    error: NotRequired[str]


class EnsembleStartedFrame(RunEvent):
    """The first task is about to begin."""

    type: Literal['ensemble_started']
    # The id of this execution.
    ensembleId: str
    # When it started.
    startedAt: str
    # The number of tasks.
    totalTasks: int
    # The order of its tasks.
    workflow: Literal['SEQUENTIAL', 'PARALLEL', 'HIERARCHICAL']


class ErrorFrame(ChatEvent):
    """The turn failed."""

    type: Literal['error']
    # The error code.
    code: str
    # The error message.
    message: str
    # The status of the provider's answer, when that was the trouble.
    status_code: NotRequired[int]


class ExecutionTree(TypedDict):
    """The calls of a turn."""

    # The version of this shape.
    version: int
    # The calls, in the order they were asked for.
    nodes: list[TreeNode]


class ExpressionEvaluatedFrame(Event):
    """A condition or a list was evaluated, which happens once; what follows from it comes next."""

    type: Literal['expression_evaluated']
    # The task, when it is a task's.
    taskIndex: NotRequired[int]
    # The name of the task.
    taskName: NotRequired[str]
    # The place of the task, or of its instance, in the run.
    turnId: NotRequired[str]
    # The name of the group, when it is a group's.
    group: NotRequired[str]
    # The index of the item that the task is done for, from 0.
    item: NotRequired[int]
    # The round of the group, from 0; for `repeat_until` the one that was over.
    round: NotRequired[int]
    # The key it is written under.
    key: Literal['when', 'for_each', 'repeat_until']
    # The expression.
    expression: str
    # The value: true, false or the list; absent when the expression failed.
    value: NotRequired[Any]
    # The reason why it has no usable value.
    error: NotRequired[str]


class Facts(TypedDict):
    """The facts that are remembered about the caller."""

    facts: list[RememberedFact]
    total: int


class FileChangedFrame(Event):
    """A call has changed a file."""

    type: Literal['file_changed']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # The description of the task.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round
    # 1.
    turnId: str
    # The index of the item that the task is done for, from 0.
    item: NotRequired[int]
    # The round of its group, from 0.
    round: NotRequired[int]
    # The file, as the tool names it.
    filePath: str
    # The kind of change.
    changeType: Literal['CREATED', 'MODIFIED', 'DELETED']
    # Lines it has now and did not have.
    linesAdded: int
    # Lines it had and does not have now.
    linesRemoved: int
    # The call.
    callId: str
    # The time.
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
    # The description of the task.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round
    # 1.
    turnId: str
    # The index of the item that the task is done for, from 0.
    item: NotRequired[int]
    # The round of its group, from 0.
    round: NotRequired[int]
    # The round of the conversation, from 0.
    iterationIndex: NotRequired[int]
    # The alias of the model.
    model: NotRequired[str]


class Forgotten(TypedDict):
    """The result of forgetting facts."""

    forgotten: int


class ForkedFrom(TypedDict):
    """The run it was forked from, and the first event it did not take."""

    runId: str
    seq: int


class Frames(TypedDict):
    """A page of frames."""

    events: list[Frame]
    # Of a chat: the events that cannot be read, of turns that are damaged.
    damaged: NotRequired[list[Gap]]


# Numbers of a thread that are missing.
Gap = TypedDict(
    "Gap",
    {
        "turn": "str",
        "from": "int",
        "to": "NotRequired[int]",
        "reason": "str",
    },
)


class GiveUpRequest(TypedDict):
    """The calls that are to be given up."""

    # The task, or the role of its agent; all when absent.
    task: NotRequired[str | None]


class GivenUp(TypedDict):
    """A run that waits no longer for its models."""

    runId: str
    # The number of calls that were given up.
    calls: int
    # The status of a change that is applied.
    status: Literal['APPLIED']
    # The fields of the request that were ignored, because they are unknown.
    warnings: NotRequired[list[str]]


class GonePeer(TypedDict):
    """An ensemble that went away."""

    name: str
    # When it went away.
    at: str
    ensemble: NotRequired[str]
    realm: NotRequired[str]
    version: NotRequired[str]
    # The capabilities that it shares, or shared.
    sharedCapabilities: list[Capability]


class Grant(TypedDict):
    """A permission that was given for the rest of a chat."""

    # The id to take it back by.
    id: str
    # The tool that may be called.
    tool: str
    # The host, MCP server or peer that it may send to; null when it sends nothing.
    host: str | None
    # When it was allowed.
    grantedAt: str
    # True where the tool is not the one that was shown then: it is described otherwise, and is asked about again.
    lapsed: NotRequired[bool]


class GrantWithdrawnFrame(ChatEvent):
    """A permission for the rest of the chat was taken back."""

    type: Literal['grant_withdrawn']
    # The grant.
    grant_id: str
    # The name of the caller that took it back.
    by: str


class Grants(TypedDict):
    """The permissions that were given for the rest of a chat."""

    grants: list[Grant]


class GroupRequest(TypedDict):
    """Tasks that are skipped, repeated or fanned out together; it has `repeatUntil` or `forEach`, not both."""

    # Its name, unique among tasks and groups; it stands for the output of its last task.
    name: str
    # The names of its tasks, in their order.
    tasks: NotRequired[list[str] | None]
    # A condition in CEL; when it is false, its tasks are skipped.
    when: NotRequired[str | None]
    # A list in CEL: its tasks are done once for each item.
    forEach: NotRequired[str | None]
    # The maximum number of items; 100 when absent.
    maxItems: NotRequired[int | str | None]
    # The number of items under way at the same time; 8 when absent.
    maxParallel: NotRequired[int | str | None]
    # A condition in CEL that ends the rounds of its tasks.
    repeatUntil: NotRequired[str | None]
    # The maximum number of rounds; 5 when absent.
    maxRounds: NotRequired[int | str | None]
    # The end of the group when the condition is still false after the last round; fail when absent. One of fail,
    # accept, in any case.
    onMaxRounds: NotRequired[str | None]


class Health(TypedDict):
    """Whether the server takes work."""

    # The answer to a probe.
    status: Literal['STARTED', 'NOT_STARTED', 'READY', 'NOT_READY']
    # The lifecycle of a server.
    lifecycleState: Literal['STARTING', 'READY', 'DRAINING']
    # The reason why it takes no work although it has started: nothing can be stored.
    reason: NotRequired[str]


class HistoryDroppedFrame(Event):
    """The oldest exchanges are not sent any more, because they do not fit."""

    type: Literal['history_dropped']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # The description of the task.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round
    # 1.
    turnId: str
    # The index of the item that the task is done for, from 0.
    item: NotRequired[int]
    # The round of its group, from 0.
    round: NotRequired[int]
    # The round of the conversation, from 0.
    iterationIndex: NotRequired[int]
    # The alias of the model.
    model: NotRequired[str]
    # The number of exchanges that were dropped.
    exchanges: int


class Hit(TypedDict):
    """A passage that was found."""

    collection: str
    documentId: int
    title: str
    # The page it is on, from 1, in documents with pages.
    page: NotRequired[int]
    # The line it begins in, from 1, in documents without pages.
    line: NotRequired[int]
    snippet: str
    score: float


class Hits(TypedDict):
    """Passages that were found."""

    results: list[Hit]


class HookAnswer1(TypedDict):
    """The hook's condition is false."""

    skipped: Literal[True]


class HookAnswer2(TypedDict):
    """The words that the sender wants back."""

    challenge: str


class HookBegun(TypedDict):
    """A run that was begun."""

    runId: str


# A directive to the agents of a run.
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
    # The fields of the request that were ignored, because they are unknown.
    warnings: NotRequired[list[str]]


class Instance(TypedDict):
    """One instance of a task: for an item, in a round, or both."""

    # Its place in the run, as in frames.
    turnId: str
    # The index of its item, from 0.
    item: NotRequired[int]
    # Its round, from 0.
    round: NotRequired[int]
    taskDescription: str
    # The stage of a task.
    status: Literal['PENDING', 'RUNNING', 'WAITING', 'COMPLETED', 'FAILED', 'CANCELLED', 'SKIPPED']
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
    # The cause of the skip.
    cause: NotRequired[Literal['condition', 'upstream', 'ended']]
    # The text of a cut answer, where the task failed.
    partialOutput: NotRequired[str]
    # Whether the output was cut at the output limit and accepted as it is.
    truncated: NotRequired[bool]
    subtasks: NotRequired[list[Subtask]]
    # Its reviews, open and decided.
    reviews: NotRequired[list[InstanceReview]]


class InstanceReview(TypedDict):
    """A review of an instance."""

    reviewId: str
    # When a review takes place.
    timing: Literal['BEFORE_EXECUTION', 'DURING_EXECUTION', 'AFTER_EXECUTION']
    # The outcome; absent while the review is open.
    outcome: NotRequired[str]


class InvokeRequest(TypedDict):
    """The input of a tool."""

    # The arguments, as the tool's schema wants them; a text is that object as JSON, or else stands for its only
    # required text.
    input: NotRequired[dict[str, Any] | str | None]


class Invoked(TypedDict):
    """The answer of a tool. A tool that failed is an answer too."""

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
    # The fields of the request that were ignored, because they are unknown.
    warnings: NotRequired[list[str]]


class LastRoundFrame(Event):
    """The last permitted round: no tools are offered."""

    type: Literal['last_round']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # The description of the task.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round
    # 1.
    turnId: str
    # The index of the item that the task is done for, from 0.
    item: NotRequired[int]
    # The round of its group, from 0.
    round: NotRequired[int]
    # The round of the conversation, from 0.
    iterationIndex: NotRequired[int]
    # The alias of the model.
    model: NotRequired[str]


class Limits(TypedDict):
    """The limits of a run; a limit that is not set is left out."""

    maxTotalSubtasks: NotRequired[int]
    maxTotalLlmCalls: NotRequired[int]
    maxTotalToolCalls: NotRequired[int]
    maxWallClockMs: NotRequired[int]
    maxTotalTokens: NotRequired[int]
    maxCostUsd: NotRequired[float]


class ListedDocument(TypedDict):
    """A document without its text."""

    id: int
    title: str
    mediaType: str
    # The size of the file that it was.
    bytes: int
    createdAt: str
    # True where it cannot be read: then only the data of its row is shown.
    damaged: NotRequired[bool]
    # The reason why it cannot be read.
    damagedReason: NotRequired[str]


class ListedFile(TypedDict):
    """A file in the folder of traces."""

    name: str
    type: str
    sizeBytes: int


class ListedModel(TypedDict):
    """A model."""

    # The name to ask it by.
    id: str
    object: Literal['model']
    # When it was saved, or the server started, in seconds since 1970.
    created: int
    owned_by: Literal['consort']


class ListedTurn(TypedDict):
    """A turn of a chat, and what it has used."""

    turnId: str
    threadId: str
    # The status of a run.
    status: Literal['ACCEPTED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED', 'REJECTED']
    startedAt: str
    # Null until it has ended.
    durationMs: int | None
    # -1 when some model did not report it.
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
    # True where it cannot be read: then only the data of its row is shown.
    damaged: NotRequired[bool]
    # The reason why it cannot be read.
    damagedReason: NotRequired[str]


class Live(TypedDict):
    """Whether the server answers."""

    # The status of a server that answers.
    status: Literal['UP']


class LlmCompletedFrame(ChatEvent):
    """A model has answered."""

    type: Literal['llm_completed']
    # The call that the subtask is; null for the turn itself.
    parent_id: str | None
    # The nesting depth of the subtask.
    depth: int
    # The model call.
    call_id: str
    # The text of the answer.
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
    # The description of the task.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round
    # 1.
    turnId: str
    # The index of the item that the task is done for, from 0.
    item: NotRequired[int]
    # The round of its group, from 0.
    round: NotRequired[int]
    # The round of the conversation, from 0.
    iterationIndex: NotRequired[int]
    # Whether it answers or wants tools called.
    responseType: Literal['FINAL_ANSWER', 'TOOL_CALLS']
    # The text of the answer.
    responseText: NotRequired[str]
    # The calls it wants made.
    toolRequests: NotRequired[list[LlmIterationCompletedFrameToolRequests]]
    # True when the reply ended at the output limit.
    truncated: NotRequired[bool]
    # Tokens it read; -1 when unknown.
    inputTokens: int
    # Tokens it wrote; -1 when unknown.
    outputTokens: int
    # The duration of the model call.
    latencyMs: int


class LlmIterationStartedFrameMessagesToolCalls(TypedDict):
    """A call that a model asks for."""

    # The tool.
    name: str
    # The arguments, as the model wrote them.
    arguments: str


class LlmIterationStartedFrameMessages(TypedDict):
    """A message that a model is sent."""

    # The role of the author.
    role: Literal['system', 'user', 'assistant', 'tool']
    # The text.
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
    # The description of the task.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round
    # 1.
    turnId: str
    # The index of the item that the task is done for, from 0.
    item: NotRequired[int]
    # The round of its group, from 0.
    round: NotRequired[int]
    # The round of the conversation, from 0.
    iterationIndex: int
    # The alias of the model.
    model: str
    # The newest messages it is sent.
    messages: list[LlmIterationStartedFrameMessages]
    # The number of messages that the model is sent.
    totalMessageCount: int


class LlmStartedFrame(ChatEvent):
    """A model is asked."""

    type: Literal['llm_started']
    # The call that the subtask is; null for the turn itself.
    parent_id: str | None
    # The nesting depth of the subtask.
    depth: int
    # The model call.
    call_id: str
    # The alias of the model.
    model: str
    # The round of the conversation, from 0.
    iteration: int


class LlmVoidedFrame(ChatEvent):
    """A model did not answer; its text so far does not count."""

    type: Literal['llm_voided']
    # The call that the subtask is; null for the turn itself.
    parent_id: str | None
    # The nesting depth of the subtask.
    depth: int
    # The model call.
    call_id: str
    # The error message.
    message: str
    # The step that follows.
    then: Literal['retry', 'fallback', 'shorten', 'give_up']


class LoopNoticedFrame(Event):
    """The model has repeated the same failing call, and is notified of it."""

    type: Literal['loop_noticed']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # The description of the task.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round
    # 1.
    turnId: str
    # The index of the item that the task is done for, from 0.
    item: NotRequired[int]
    # The round of its group, from 0.
    round: NotRequired[int]
    # The round of the conversation, from 0.
    iterationIndex: NotRequired[int]
    # The alias of the model.
    model: NotRequired[str]
    # The tool it called.
    toolName: str
    # The number of times it was called.
    times: int


class McpServer(TypedDict):
    """A server whose tools come and go."""

    name: str
    # Names of its tools.
    tools: list[str]
    # The reason why none of them can be called at the moment.
    unavailable: NotRequired[str]


class Me(TypedDict):
    """The caller."""

    # The name of its key, which its threads belong to; `local` without keys.
    name: str
    # The owner of the runs that it begins.
    owner: str
    # The scopes of its key; all scopes without keys.
    scopes: list[Literal['read', 'run', 'review', 'tools', 'peer', 'admin']]
    # Whether its scopes extend to the runs of all owners.
    sees: Literal['own', 'all']


class MemoryEntry(TypedDict):
    """Something that is remembered."""

    key: str
    text: str
    createdAt: str


class MemoryOperations(TypedDict):
    """The number of uses of memory."""

    shortTermEntriesWritten: int
    longTermStores: int
    longTermRetrievals: int
    entityLookups: int


class Message(TypedDict):
    """A row of a chat."""

    # Its id.
    id: str
    # The role of the author.
    role: Literal['user', 'assistant', 'tool']
    # The text.
    content: str
    # The calls it asks for.
    tool_calls: list[RowCall] | None
    # The call it answers.
    tool_call_id: str | None
    # Whether a tool failed; in an assistant's row, whether the turn failed: then `content` ends with the reason.
    is_error: bool
    # The reason why the turn failed, in an assistant's row.
    error: str | None
    # Whether it is an answer that was cut at the output limit; the last one can be continued.
    truncated: bool
    # The id of the row it goes on with, which was cut.
    continues: str | None
    # The files that the user attached.
    attachments: NotRequired[list[Attached]]
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


class MessageFrameAttachments(TypedDict):
    """A file that is attached to a message or a task: a name for bytes that are stored apart."""

    # The id of the attachment.
    id: str
    # The name of the file.
    name: str
    # The type of the file.
    media_type: str
    # The size of the file in bytes.
    bytes: int


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
    # The duration.
    duration_ms: int


class MessageFrameExecutionTree(TypedDict):
    """The calls of the whole turn, with its last row."""

    # The version of this shape.
    version: int
    # The calls, in the order they were asked for.
    nodes: list[MessageFrameExecutionTreeNodes]


class MessageFrame(ChatEvent):
    """A row of the chat."""

    type: Literal['message']
    # Its id.
    id: str
    # The role of the author.
    role: Literal['user', 'assistant', 'tool']
    # The text.
    content: str
    # The calls it asks for.
    tool_calls: list[MessageFrameToolCalls] | None
    # The call it answers.
    tool_call_id: str | None
    # Whether it is an error.
    is_error: bool
    # The reason for a failed turn, beside the text of its answer.
    error: str | None
    # Whether it is an answer that was cut at the output limit.
    truncated: bool
    # The id of the row it goes on with, which was cut.
    continues: str | None
    # The files that the user attached.
    attachments: NotRequired[list[MessageFrameAttachments]]
    # The calls of the whole turn, with its last row.
    execution_tree: MessageFrameExecutionTree
    # When it was stored.
    created_at: str
    # The call that the subtask is; null for the turn itself.
    parent_id: str | None
    # The nesting depth of the subtask.
    depth: int
    # The model call that made it.
    call_id: NotRequired[str]


class Messages(TypedDict):
    """Everything that was said in a chat."""

    messages: list[Message]


class Metrics(TypedDict):
    """The usage of a run."""

    totalTokens: int
    totalToolCalls: int
    # Tokens read; -1 when some model did not report it.
    inputTokens: int
    # Tokens written; -1 when some model did not report it.
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
    """The usage of a task so far."""

    type: Literal['metrics_snapshot']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # The description of the task.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round
    # 1.
    turnId: str
    # The index of the item that the task is done for, from 0.
    item: NotRequired[int]
    # The round of its group, from 0.
    round: NotRequired[int]
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
    """The outcome of searching a turn for facts that are worth remembering."""

    turnId: str
    # The end of searching a turn for facts.
    status: Literal['COMPLETED', 'FAILED', 'CANCELLED', 'SKIPPED']
    # The reason why nothing could be remembered.
    reason: str | None
    # Facts that are from this turn.
    facts: int
    cost: MiningCost


class MiningCost(TypedDict):
    """The usage of the search for facts, which does not count as usage of the turn."""

    llmCalls: int
    inputTokens: int
    outputTokens: int
    totalUsd: float | None


class Mistake(TypedDict):
    """Something that is wrong with a request."""

    # Kinds of mistakes, with the names they have on the wire.
    error: Literal['BAD_REQUEST', 'INVALID_TOOL', 'INVALID_MODEL', 'MODEL_CANNOT_SEE', 'INVALID_TASK_OVERRIDE', 'CIRCULAR_DEPENDENCY', 'MISSING_INPUT', 'INVALID_SCHEMA', 'INVALID_EXPRESSION', 'TEMPLATE_TOO_LARGE', 'NOT_CONFIGURED', 'media_generation_unavailable']
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
    # The time.
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
    # The description of the task.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round
    # 1.
    turnId: str
    # The index of the item that the task is done for, from 0.
    item: NotRequired[int]
    # The round of its group, from 0.
    round: NotRequired[int]
    # The round of the conversation, from 0.
    iterationIndex: NotRequired[int]
    # The alias of the model.
    model: NotRequired[str]
    # The kind of failure.
    error: Literal['rate_limited', 'overloaded', 'timeout', 'network', 'malformed', 'overflow', 'unauthorized', 'refused', 'dropped']
    # The error message.
    message: str
    # The step that follows.
    then: ModelFailedFrameThen | ModelFailedFrameThen2 | ModelFailedFrameThen3 | ModelFailedFrameThen4


class ModelList(TypedDict):
    """The models."""

    object: Literal['list']
    data: list[ListedModel]


class ModelOptions(TypedDict):
    """Options for the models' answers. An absent one is taken from the next level that has it, in the order task, run, model, provider. A fallback of another provider gets the options that this provider supports."""

    # The temperature; at most 1 for models of Anthropic.
    temperature: NotRequired[float | None]
    # The share of the most likely tokens that are chosen from.
    topP: NotRequired[float | None]
    # The seed. Refused for models of Anthropic and over OpenAI's responses, which have none.
    seed: NotRequired[int | None]
    # The amount of reasoning, for providers that have such an option. One of none, minimal, low, medium, high, xhigh,
    # max, in any case.
    reasoningEffort: NotRequired[str | None]


class ModelRequest(TypedDict):
    """A request to switch the model of a run."""

    # The alias of the model.
    model: str


class ModelRetriedFrame(Event):
    """The same question is asked once more."""

    type: Literal['model_retried']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # The description of the task.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round
    # 1.
    turnId: str
    # The index of the item that the task is done for, from 0.
    item: NotRequired[int]
    # The round of its group, from 0.
    round: NotRequired[int]
    # The round of the conversation, from 0.
    iterationIndex: NotRequired[int]
    # The alias of the model.
    model: NotRequired[str]
    # The number of the attempt, from 1.
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
    # The name of the caller that switched the model.
    by: str


class Network(TypedDict):
    """This ensemble and the others."""

    ensemble: str
    realm: str | None
    version: str
    leaseMs: int
    # Whether an ensemble accepts work.
    status: Literal['available', 'busy', 'draining']
    # The part of its capacity for peers that is taken, from 0 to 1.
    currentLoad: float
    # Its capacity: the number of requests of peers that it works on at the same time.
    maxConcurrent: int
    sharedCapabilities: list[Capability]
    # The number of capabilities that are known here.
    capabilities: int
    peers: list[Peer]
    # Ensembles that were here and went away, the newest first, at most 100.
    gone: list[GonePeer]


class Node(TypedDict):
    """A node."""

    # Its name.
    name: str
    # The address at which it is reached.
    address: str
    # The version of its program.
    version: str
    # The time at which others take over its runs unless it renews its lease; null without a cluster.
    leaseUntil: str | None
    # Whether it is about to stop and begins nothing new.
    draining: bool
    # The number of its unfinished runs.
    runs: int


class Nodes(TypedDict):
    """The nodes that share a store."""

    nodes: list[Node]


class OpenAiError(TypedDict):
    """A failure as OpenAI's API tells it."""

    error: OpenAiErrorDetail


class OpenAiErrorDetail(TypedDict):
    """The error."""

    message: str
    type: str
    # The field that is wrong.
    param: str | None
    code: str


class Options(TypedDict):
    """Settings for the execution of a run."""

    # Characters of a tool's output that a model reads; -1 for all.
    maxToolOutputLength: NotRequired[int | None]
    # Characters of a tool's output in the log; -1 for all.
    toolLogTruncateLength: NotRequired[int | None]
    # The order of the tasks. One of SEQUENTIAL, PARALLEL, HIERARCHICAL, in any case.
    workflow: NotRequired[str | None]
    # Whether prompts, replies and calls are written to the server's log.
    verbose: NotRequired[bool | None]
    # The tasks whose output a person reviews. One of NEVER, AFTER_EVERY_TASK, AFTER_LAST_TASK, in any case.
    reviewPolicy: NotRequired[str | None]
    # The end of a review that nobody decides in time. Where neither this nor `on_timeout` of the file is written,
    # reviews that a task demands wait for a person. One of CONTINUE, EXIT_EARLY, FAIL, in any case.
    onTimeout: NotRequired[str | None]
    # The content of an exported trace. One of OFF, STANDARD, FULL, DETAILED, in any case.
    captureMode: NotRequired[str | None]
    # The urgency among runs that wait for a slot; `NORMAL` if absent. One of LOW, NORMAL, HIGH, CRITICAL, in any case.
    priority: NotRequired[str | None]


class OutputRejectedFrame(Event):
    """The output breaks its schema and is sent back."""

    type: Literal['output_rejected']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # The description of the task.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round
    # 1.
    turnId: str
    # The index of the item that the task is done for, from 0.
    item: NotRequired[int]
    # The round of its group, from 0.
    round: NotRequired[int]
    # The round of the conversation, from 0.
    iterationIndex: NotRequired[int]
    # The alias of the model.
    model: NotRequired[str]
    # Everything that is wrong with it.
    violations: list[str]


class Override(TypedDict):
    """A change to a configured task."""

    # The work to do.
    description: NotRequired[str | None]
    # A description of the output.
    expectedOutput: NotRequired[str | None]
    # Further context for the agent.
    additionalContext: NotRequired[str | None]
    # The alias of the model.
    model: NotRequired[str | None]
    # Options for the models' answers.
    modelOptions: NotRequired[ModelOptions | None]
    # The maximum number of rounds of model calls.
    maxIterations: NotRequired[int | str | None]
    # The treatment of an answer that is cut at the output limit. One of continue, fail, accept, in any case.
    onTruncated: NotRequired[str | None]
    # Changes to its tools.
    tools: NotRequired[ToolChanges | None]


class Peer(TypedDict):
    """Another ensemble."""

    name: str
    connected: bool
    # Whether the link was opened from here.
    dialled: bool
    # When the link was opened.
    since: NotRequired[str]
    ensemble: NotRequired[str]
    realm: NotRequired[str]
    version: NotRequired[str]
    # The capabilities that it shares, or shared.
    sharedCapabilities: list[Capability]
    # The reason why there is no link, or the mistakes in the peer's description of itself.
    error: NotRequired[str]
    # Whether an ensemble accepts work.
    status: NotRequired[Literal['available', 'busy', 'draining']]
    currentLoad: NotRequired[float]
    maxConcurrent: NotRequired[int]
    # The requests that it has not answered yet, at most 100.
    requests: list[PeerRequest]


class PeerRequest(TypedDict):
    """A request to a peer, and the progress that it reported."""

    requestId: str
    capability: str
    # As reported by the peer, like the fields below.
    status: NotRequired[str]
    message: NotRequired[str]
    percentComplete: NotRequired[int]


class PermissionModeChangedFrame(ChatEvent):
    """The permission mode of the turn was changed."""

    type: Literal['permission_mode_changed']
    # The new permission mode.
    permission_mode: Literal['plan', 'default', 'auto']
    # The name of the caller that changed it.
    by: str


class PlanningUpdateFrame(ChatEvent):
    """A workflow is being drawn."""

    type: Literal['planning_update']
    # The call that the subtask is; null for the turn itself.
    parent_id: str | None
    # The nesting depth of the subtask.
    depth: int
    # The stage of drawing.
    phase: Literal['planning', 'validation']
    # The progress of that stage.
    status: Literal['start', 'end', 'failed']
    # The progress in words.
    content: str


class Position(TypedDict):
    """A place on the canvas."""

    # The distance from the middle to the right.
    x: float
    # The distance from the middle downwards.
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
    """A problem: RFC 9457, with a code for programs. Some codes have further fields."""

    type: str
    title: str
    status: int
    detail: str
    # The code for programs.
    error: Literal['ANSWER_FAILED', 'APPROVAL_NOT_FOUND', 'APPROVAL_PENDING', 'APPROVAL_RESOLVED', 'ATTACHMENT_NOT_FOUND', 'ATTACHMENT_USED', 'BAD_REQUEST', 'BUDGET_EXCEEDED', 'CANCELLED', 'CIRCULAR_DEPENDENCY', 'COLLECTION_EXISTS', 'COLLECTION_NOT_FOUND', 'CONCURRENCY_LIMIT', 'CONFLICT', 'DELIVERY_NOT_FOUND', 'DOCUMENT_NOT_FOUND', 'DRAINING', 'EXPRESSION_FAILED', 'FORBIDDEN', 'GRANT_NOT_FOUND', 'HOOK_NOT_FOUND', 'IDEMPOTENCY_CONFLICT', 'INTERNAL_ERROR', 'INVALID_EXPRESSION', 'INVALID_INPUT', 'INVALID_MODEL', 'INVALID_SCHEMA', 'INVALID_TASK_OVERRIDE', 'INVALID_TOOL', 'LIMIT_REACHED', 'METHOD_NOT_ALLOWED', 'MISSING_INPUT', 'MODEL_CANNOT_SEE', 'MODEL_NOT_FOUND', 'NOTHING_TO_CONTINUE', 'NOT_CONFIGURED', 'NOT_FOUND', 'OUTCOME_UNKNOWN', 'PAYLOAD_TOO_LARGE', 'PRECONDITION_FAILED', 'PRECONDITION_REQUIRED', 'PREVIOUS_RESPONSE_NOT_FOUND', 'QUOTA_EXCEEDED', 'REJECTED_TOO_OFTEN', 'REQUEST_TIMEOUT', 'REVIEW_NOT_FOUND', 'REVIEW_RESOLVED', 'RUN_ACTIVE', 'RUN_COMPLETED', 'RUN_NOT_FOUND', 'SCHEDULE_NOT_FOUND', 'STARTING', 'STORAGE_DAMAGED', 'STORAGE_UNAVAILABLE', 'TEMPLATE_TOO_LARGE', 'THREAD_BUSY', 'THREAD_NOT_FOUND', 'TOOL_NOT_FOUND', 'TOO_MANY_REFUSALS', 'TURN_NOT_RUNNING', 'UNAUTHORIZED', 'UNAVAILABLE', 'UNSUPPORTED_MEDIA_TYPE', 'VERSION_NOT_FOUND', 'WEBHOOK_NOT_FOUND', 'WORKFLOW_NOT_FOUND', 'media_generation_unavailable']
    # The same as `detail`.
    message: str
    # The same as the header `X-Request-Id`.
    requestId: str
    # When to try again; also the header `Retry-After`.
    retryAfterMs: NotRequired[int]
    # The status of the run, when it is the reason.
    runStatus: NotRequired[Literal['ACCEPTED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED', 'REJECTED']]
    # The decision that was made before.
    decision: NotRequired[str]
    # The name of who made it; absent where nobody did, such as at a timeout.
    decidedBy: NotRequired[str]
    # The time at which it was made.
    decidedAt: NotRequired[str]
    # The turn that runs.
    turnId: NotRequired[str]
    # Everything that is wrong with a request.
    mistakes: NotRequired[list[Mistake]]
    # The version there is now.
    version: NotRequired[int]
    # The fields of the request that are unknown.
    warnings: NotRequired[list[str]]


class PromptDetails(TypedDict):
    """The part of the prompt that was read from a cache."""

    cached_tokens: int


class ProtectedResource(TypedDict):
    """The requirements of a protected resource, as RFC 9728 describes them."""

    # The address of the resource.
    resource: str
    resource_name: str
    # The issuer whose tokens are taken, where single sign-on is configured.
    authorization_servers: NotRequired[list[str]]
    bearer_methods_supported: list[str]
    scopes_supported: list[str]


class Quoted(TypedDict):
    """A message that a model is sent."""

    # The role of the author.
    role: Literal['system', 'user', 'assistant', 'tool']
    # The text.
    content: str | None
    # The calls it asks for.
    toolCalls: list[ToolRequest] | None
    # The tool that answers.
    toolName: str | None


class Raised(TypedDict):
    """A run that may use more."""

    runId: str
    limits: Limits
    # The status of a change that is applied.
    status: Literal['APPLIED']
    # The fields of the request that were ignored, because they are unknown.
    warnings: NotRequired[list[str]]


class ReflectionStartedFrame(Event):
    """The model is asked what could be better next time."""

    type: Literal['reflection_started']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # The description of the task.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round
    # 1.
    turnId: str
    # The index of the item that the task is done for, from 0.
    item: NotRequired[int]
    # The round of its group, from 0.
    round: NotRequired[int]
    # The name of the task.
    taskName: NotRequired[str]


class Rehearsal(TypedDict):
    """The run that would be started."""

    dryRun: Literal[True]
    tasks: list[RehearsedTask]
    # The order of the tasks.
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
    # The condition under which it would run.
    when: NotRequired[str]
    # The list of items for each of which it would run.
    forEach: NotRequired[str]
    # The group it is in.
    group: NotRequired[str]


class Remembered(TypedDict):
    """The entries under one name."""

    scope: str
    # The kind of entries: texts that tasks store, or critiques of reflections.
    type: Literal['memory', 'reflection']
    entries: list[MemoryEntry]
    # True where it cannot be read: then only the data of its row is shown.
    damaged: NotRequired[bool]
    # The reason why it cannot be read.
    damagedReason: NotRequired[str]


class RememberedFact(TypedDict):
    """Something that is remembered about the caller."""

    id: str
    text: str
    # The thread in which it was said.
    threadId: str
    turnId: str
    createdAt: str
    # True where it cannot be read: then only the data of its row is shown.
    damaged: NotRequired[bool]
    # The reason why it cannot be read.
    damagedReason: NotRequired[str]


class Response(TypedDict):
    """A response. It has every field that OpenAI's has; those without a meaning here are null."""

    id: str
    object: Literal['response']
    # When it was asked for, in seconds since 1970.
    created_at: int
    # The progress of a response.
    status: Literal['in_progress', 'completed', 'incomplete', 'failed']
    model: str
    # Messages, and what was done in between.
    output: list[dict[str, Any]]
    previous_response_id: str | None
    # The parts of the request that were ignored.
    warnings: NotRequired[list[str]]


class ResponseRequest(TypedDict):
    """A response that is asked for; fields of OpenAI's that are not listed change nothing."""

    # `consort`, or `consort/<name>`.
    model: str
    # The message, or a list of messages of which the last is the user's, with pictures (`input_image`) and files
    # (`input_file`) among their parts.
    input: ResponseInput
    instructions: NotRequired[str | None]
    # Send the answer as it comes.
    stream: NotRequired[bool | None]
    # The last response of the conversation to go on with.
    previous_response_id: NotRequired[str | None]
    # The thread to go on with, or a name of your own for one.
    conversation: NotRequired[ConversationParam | None]
    # Inputs of a run.
    metadata: NotRequired[dict[str, Any] | None]
    temperature: NotRequired[float | None]
    top_p: NotRequired[float | None]
    reasoning: NotRequired[dict[str, Any] | None]


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
    # The description of the task, or the question of the agent.
    taskDescription: str
    # The place of the task in the run.
    turnId: str
    # The index of the item that the task is done for, from 0.
    item: NotRequired[int]
    # The round of its group, from 0.
    round: NotRequired[int]
    # The name of the task.
    taskName: str
    # The output that is reviewed; empty before the task.
    taskOutput: str
    # Whether that output was cut at the output limit and accepted as it is.
    truncated: NotRequired[bool]
    # Before, while or after the task is done.
    timing: Literal['BEFORE_EXECUTION', 'DURING_EXECUTION', 'AFTER_EXECUTION']
    # The time for which it waits; 0 means without limit.
    timeoutMs: int
    # The step that follows at `expiresAt`; absent when it waits without limit.
    onTimeout: NotRequired[Literal['CONTINUE', 'EXIT_EARLY', 'FAIL']]
    # When it was asked for.
    createdAt: str
    # The time at which it stops waiting; absent when it waits without limit.
    expiresAt: NotRequired[str]
    # The question of an agent.
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
    # The name of the caller that decided.
    by: str
    # The output that counts instead.
    revisedOutput: NotRequired[str]
    # The improvements that the reviewer asks for.
    feedback: NotRequired[str]


class ReviewRequestedFrame(Event):
    """Something waits for a person."""

    type: Literal['review_requested']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # The description of the task.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round
    # 1.
    turnId: str
    # The index of the item that the task is done for, from 0.
    item: NotRequired[int]
    # The round of its group, from 0.
    round: NotRequired[int]
    # The name of the task.
    taskName: NotRequired[str]
    # The id to decide it by.
    reviewId: str
    # The output that is reviewed; empty before the task.
    taskOutput: str
    # Whether that output was cut at the output limit and accepted as it is.
    truncated: NotRequired[bool]
    # Before, while or after the task is done.
    timing: Literal['BEFORE_EXECUTION', 'DURING_EXECUTION', 'AFTER_EXECUTION']
    # The time for which it waits; 0 means without limit.
    timeoutMs: int
    # The step that follows when nobody decides in time.
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
    # The step that follows.
    action: Literal['CONTINUE', 'EXIT_EARLY', 'FAIL']


class Reviews(TypedDict):
    """The reviews that wait for a person."""

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
    # The owner: that of the key that began the run, `local` without keys.
    owner: str
    # The title: the values of its inputs, or else its first task. Rows of earlier versions have none.
    title: NotRequired[str]
    # The beginning of its output, once it has completed.
    outputPreview: NotRequired[str]
    # The status of a run.
    status: Literal['ACCEPTED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED', 'REJECTED']
    # When it was submitted.
    startedAt: str
    # Null until it has ended.
    durationMs: int | None
    # The time it waited in the queue.
    queuedMs: NotRequired[int]
    # The run it retries.
    retryOf: NotRequired[str]
    forkedFrom: NotRequired[ForkedFrom]
    taskCount: int
    completedTasks: int
    # The order of the tasks.
    workflow: Literal['SEQUENTIAL', 'PARALLEL', 'HIERARCHICAL']
    # The model that tasks without one of their own ask. Rows of earlier versions have none.
    model: NotRequired[str]
    tags: dict[str, str]
    paused: bool
    cancelRequested: bool
    # -1 when some model did not report it.
    totalTokens: int
    # The first task under way.
    currentTask: NotRequired[CurrentTask]
    # The reason why nothing happens just now. `queue`: it waits for a slot, at first or when it goes on after a review;
    # `queuePosition` is the number of runs that wait before it.
    waitingFor: NotRequired[Literal['queue', 'resume', 'model', 'lock', 'retry', 'review', 'approval', 'storage']]
    # The same in words, with details: the model with its address, and the message of its provider.
    waitingReason: NotRequired[str]
    # The time since which it waits for that.
    waitingSince: NotRequired[str]
    costEstimate: NotRequired[Cost]
    # The reason why it failed.
    error: NotRequired[str]
    # Whether an output was cut at the output limit and accepted as it is.
    truncated: NotRequired[bool]
    # Reviews that wait for a person.
    openReviews: NotRequired[list[str]]
    # The number of runs before it in the queue, while it waits.
    queuePosition: NotRequired[int]
    # True where it cannot be read: then only the data of its row is shown.
    damaged: NotRequired[bool]
    # The reason why it cannot be read.
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
    # The condition under which it is done.
    when: NotRequired[str]
    # The list of items for each of which it is done.
    forEach: NotRequired[str]


class RunAcceptedFrameGroups(TypedDict):
    """A group of tasks, as it was declared."""

    # Its name.
    name: str
    # The numbers of its tasks, from 1.
    tasks: list[int]
    # The condition under which they are done.
    when: NotRequired[str]
    # The list of items for each of which they are done.
    forEach: NotRequired[str]
    # The condition that ends their rounds.
    repeatUntil: NotRequired[str]
    # The number of rounds they may take.
    maxRounds: NotRequired[int]


class RunAcceptedFrame(RunEvent):
    """The run exists."""

    type: Literal['run_accepted']
    # The ensemble's name.
    ensemble: str
    # The order of its tasks.
    workflow: Literal['SEQUENTIAL', 'PARALLEL', 'HIERARCHICAL']
    # The number of tasks.
    totalTasks: int
    # Its tasks, as declared.
    tasks: list[RunAcceptedFrameTasks]
    # Groups of its tasks, as declared.
    groups: NotRequired[list[RunAcceptedFrameGroups]]


class RunAdoptedFrame(RunEvent):
    """A process has taken the run over; calls of the one before are lost."""

    type: Literal['run_adopted']
    # Greater with each process that has the run, from 1.
    epoch: int
    # The name of the node that has it now.
    node: NotRequired[str]
    # The reason why it has it.
    reason: NotRequired[Literal['begun', 'claimed', 'takeover', 'drained']]


class RunDetail(TypedDict):
    """Everything about a run that fits one answer."""

    runId: str
    ensemble: str
    # The id of this execution, which its trace files are named after; in a list absent for runs of earlier versions.
    ensembleId: NotRequired[str]
    # The owner: that of the key that began the run, `local` without keys.
    owner: str
    # The title: the values of its inputs, or else its first task. Rows of earlier versions have none.
    title: NotRequired[str]
    # The beginning of its output, once it has completed.
    outputPreview: NotRequired[str]
    # The status of a run.
    status: Literal['ACCEPTED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED', 'REJECTED']
    # When it was submitted.
    startedAt: str
    # Null until it has ended.
    durationMs: int | None
    # The time it waited in the queue.
    queuedMs: NotRequired[int]
    # The run it retries.
    retryOf: NotRequired[str]
    forkedFrom: NotRequired[ForkedFrom]
    taskCount: int
    completedTasks: int
    # The order of the tasks.
    workflow: Literal['SEQUENTIAL', 'PARALLEL', 'HIERARCHICAL']
    # The model that tasks without one of their own ask. Rows of earlier versions have none.
    model: NotRequired[str]
    tags: dict[str, str]
    paused: bool
    cancelRequested: bool
    # -1 when some model did not report it.
    totalTokens: int
    # The first task under way.
    currentTask: NotRequired[CurrentTask]
    # The reason why nothing happens just now. `queue`: it waits for a slot, at first or when it goes on after a review;
    # `queuePosition` is the number of runs that wait before it.
    waitingFor: NotRequired[Literal['queue', 'resume', 'model', 'lock', 'retry', 'review', 'approval', 'storage']]
    # The same in words, with details: the model with its address, and the message of its provider.
    waitingReason: NotRequired[str]
    # The time since which it waits for that.
    waitingSince: NotRequired[str]
    costEstimate: NotRequired[Cost]
    # The reason why it failed.
    error: NotRequired[str]
    # Whether an output was cut at the output limit and accepted as it is.
    truncated: NotRequired[bool]
    # Reviews that wait for a person.
    openReviews: NotRequired[list[str]]
    # The number of runs before it in the queue, while it waits.
    queuePosition: NotRequired[int]
    # True where it cannot be read: then only the data of its row is shown.
    damaged: NotRequired[bool]
    # The reason why it cannot be read.
    damagedReason: NotRequired[str]
    inputs: dict[str, Any]
    tasks: list[Task]
    # The number of events.
    eventCount: int
    limits: Limits
    metrics: Metrics
    pendingReviews: list[Review]
    # The output of the run: that of the task that completed last, in a hierarchy the manager's answer; null unless it
    # completed. `run_result` has the same output.
    output: str | None
    # `output` as data, when its task has a schema.
    parsedOutput: NotRequired[Any]
    completedAt: NotRequired[str]
    # The schedule that began the run.
    schedule: NotRequired[BegunSchedule]
    # The hook that began the run.
    hook: NotRequired[BegunHook]
    # Odd things in the request; only in the answer to the request that began the run.
    warnings: NotRequired[list[str]]


class RunForkedFrameForkedFrom(TypedDict):
    """The run and the place in it that this one goes on from."""

    # The run.
    runId: str
    # The number of the event.
    seq: int


class RunForkedFrameEditedOutputs(TypedDict):
    """An output of a kept task that is not the one it had."""

    # The number of the task, from 1.
    taskIndex: int
    # The name of the task.
    taskName: str
    # The place of the task in the run.
    turnId: str
    # The output that the tasks after it read.
    output: str
    # The output as data, when the task has a schema.
    parsedOutput: NotRequired[Any]
    # The name of the requester.
    by: str


class RunForkedFrame(RunEvent):
    """The events before this one were copied from another run."""

    type: Literal['run_forked']
    # The run whose completed tasks were kept.
    retryOf: NotRequired[str]
    # The run and the place in it that this one goes on from.
    forkedFrom: NotRequired[RunForkedFrameForkedFrom]
    # The outputs of kept tasks that were put in place of those they had.
    editedOutputs: NotRequired[list[RunForkedFrameEditedOutputs]]


class RunPausedFrame(Event):
    """Nothing new is begun until the run is resumed."""

    type: Literal['run_paused']
    # The name of the caller that paused it.
    by: str


class RunRequest(TypedDict):
    """A request for a run; without `tasks`, of the configured ensemble. `null` means absent; unknown fields give `warnings`."""

    # Values of template variables, of any type.
    inputs: NotRequired[dict[str, Any] | None]
    # Labels to find it by.
    tags: NotRequired[dict[str, str | float | bool | None] | None]
    # The tasks.
    tasks: NotRequired[list[TaskRequest] | None]
    # Groups of these tasks, which are skipped, repeated or fanned out together.
    groups: NotRequired[list[GroupRequest] | None]
    # Changes to configured tasks, by their names.
    taskOverrides: NotRequired[dict[str, Override] | None]
    # Settings for the execution of the run.
    options: NotRequired[Options | None]
    # Options for the models' answers.
    modelOptions: NotRequired[ModelOptions | None]
    # The ids of files that were uploaded to `/api/attachments`, for every task without its own.
    attachments: NotRequired[list[str] | None]
    # Whether to only report what would run.
    dryRun: NotRequired[bool | None]


class RunResultFrameOutputs(TypedDict):
    """The output of a task."""

    # The name of the task.
    taskName: str
    # The output.
    output: str
    # The duration of the task.
    durationMs: int
    # The output as data, when the task has a schema.
    parsedOutput: NotRequired[Any]
    # Whether the output was cut at the output limit and accepted as it is.
    truncated: NotRequired[bool]
    # The task ended in the run that this one goes on from.
    inherited: NotRequired[Literal[True]]
    # The requester who gave it another output when this run was made of another.
    outputEditedBy: NotRequired[str]


class RunResultFrameMetricsCostEstimate(TypedDict):
    """The cost, in dollars."""

    inputCost: float
    outputCost: float


class RunResultFrameMetrics(TypedDict):
    """The usage of the run."""

    totalTokens: int
    totalToolCalls: int
    # Tokens read; -1 when some model did not report it.
    inputTokens: int
    # Tokens written; -1 when some model did not report it.
    outputTokens: int
    cachedInputTokens: int
    reasoningTokens: int
    llmCalls: int
    subtasks: int
    llmLatencyMs: int
    toolExecutionTimeMs: int
    # The cost, in dollars.
    costEstimate: NotRequired[RunResultFrameMetricsCostEstimate]
    # Models without a price, when the cost is not known.
    unpriced: NotRequired[list[str]]


class RunResultFrame(TypedDict):
    """The result of a run; it follows the last event."""

    type: Literal['run_result']
    # The run.
    runId: str
    # The final status.
    status: Literal['ACCEPTED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED', 'REJECTED']
    # The outputs of its tasks, in the order in which they completed.
    outputs: list[RunResultFrameOutputs]
    # The duration of the run.
    durationMs: int
    # The usage of the run.
    metrics: RunResultFrameMetrics
    # The output of the run: the last of `outputs`, in a hierarchy the manager's answer; null unless it completed.
    output: str | None
    # `output` as data, when its task has a schema.
    parsedOutput: NotRequired[Any]
    # The reason why it failed.
    error: NotRequired[str]


class RunResumedFrame(Event):
    """The run goes on."""

    type: Literal['run_resumed']
    # The name of the caller that resumed it.
    by: str


class Runs(TypedDict):
    """A page of runs."""

    runs: list[Run]
    # The number of runs that match; with `model`, `minCost`, `waiting` or `paused`, of those that match the rest. With
    # `after`, of those that follow it.
    total: int
    # The `after` of the next page. With `model`, `minCost`, `waiting` or `paused` a page may have fewer runs than its
    # limit, or none, and yet another after it. Absent when there is no more.
    next: NotRequired[str]


class Said(TypedDict):
    """An accepted message: its turn has begun, or waits."""

    threadId: str
    turnId: str
    # The first `chat_seq` of the turn.
    seq: NotRequired[int]
    # The number of messages before it in the queue, while it waits.
    queuePosition: NotRequired[int]
    # The parts of the message that were ignored.
    warnings: NotRequired[list[str]]


class Say(TypedDict):
    """A message."""

    # The text.
    content: str
    # The alias of the model.
    model: NotRequired[str | None]
    # `{kind: "editor", workflowId}`: the workflow that is open.
    chat_context: NotRequired[dict[str, Any] | str | None]
    # `workflow`: the workflow of `workflow_id` answers instead of the chat agent.
    workflow_target: NotRequired[str | None]
    # The workflow that answers, or is open.
    workflow_id: NotRequired[str | None]
    # The collections that are searched for the answer.
    collections: NotRequired[list[str] | None]
    # The ids of files that were uploaded to `/api/attachments`, at most 20.
    attachments: NotRequired[list[str] | None]
    # Whether facts about the user may be recalled and new ones stored.
    memory_enabled: NotRequired[bool | None]
    # The permission mode: the calls that may be made without asking.
    permission_mode: NotRequired[Literal['plan', 'default', 'auto'] | None]
    # The effect of the message while another turn runs.
    if_busy: NotRequired[Literal['interrupt', 'reject', 'queue'] | None]


class Schedule(TypedDict):
    """A schedule."""

    name: str
    # Five fields: minute, hour, day of month, month, day of week; null where there is an interval.
    cron: str | None
    # An interval such as `15m`, counted from the epoch; null where there is a pattern.
    every: str | None
    # The time zone of the pattern.
    timezone: str
    # The id or the name of a saved workflow; null: the ensemble.
    workflow: str | None
    inputs: dict[str, Any]
    # The treatment of a due time that comes while the previous run is active.
    overlap: Literal['skip', 'queue', 'cancel_previous']
    # The due times that are made up for after an outage.
    catchUp: Literal['none', 'one', 'all']
    # The age of missed times that are still made up for.
    window: str
    # The longest delay after a due time, different for each.
    jitter: str
    # The owner of its runs.
    owner: str
    # The next due times; while it is paused nothing begins then.
    next: list[str]
    last: ScheduleLast | None
    paused: bool
    # Those of the configuration cannot be changed over the API.
    source: Literal['config', 'api']
    # The reasons why its runs could not begin at the moment.
    warnings: NotRequired[list[str]]
    # True where it cannot be read: then only the data of its row is shown.
    damaged: NotRequired[bool]
    # The reason why it cannot be read.
    damagedReason: NotRequired[str]


class ScheduleChanges(TypedDict):
    """The fields of a schedule."""

    # Five fields: minute, hour, day of month, month, day of week.
    cron: NotRequired[str | None]
    # An interval of at least a second, such as `15m`, counted from the epoch.
    every: NotRequired[str | None]
    # The time zone of the pattern; `UTC` by default.
    timezone: NotRequired[str | None]
    # The id or the name of a saved workflow; the ensemble by default.
    workflow: NotRequired[str | None]
    inputs: NotRequired[dict[str, Any] | None]
    # The treatment of a due time while the previous run is active; `skip` by default.
    overlap: NotRequired[Literal['skip', 'queue', 'cancel_previous'] | None]
    # The times missed within `window` that are made up for; `one` by default.
    catchUp: NotRequired[Literal['none', 'one', 'all'] | None]
    # The age of missed times that are still made up for; `1h` by default.
    window: NotRequired[str | None]
    # The longest delay after a due time, different for each; `0s` by default.
    jitter: NotRequired[str | None]


class ScheduleLast(TypedDict):
    """The outcome of the last due time, or of a trigger."""

    # When that was.
    at: str
    # The due time; null where the start of the server found that its runs cannot begin.
    due: str | None
    # The run that was begun.
    runId: str | None
    # The outcome of a due time.
    status: Literal['started', 'skipped', 'missed', 'failed']
    # The reason why no run was begun.
    error: str | None


class ScheduleRequest(TypedDict):
    """A schedule that is to be made: with `cron` or with `every`."""

    # 1 to 64 letters, digits, `-`, `_` and `.`.
    name: str
    # Five fields: minute, hour, day of month, month, day of week.
    cron: NotRequired[str | None]
    # An interval of at least a second, such as `15m`, counted from the epoch.
    every: NotRequired[str | None]
    # The time zone of the pattern; `UTC` by default.
    timezone: NotRequired[str | None]
    # The id or the name of a saved workflow; the ensemble by default.
    workflow: NotRequired[str | None]
    inputs: NotRequired[dict[str, Any] | None]
    # The treatment of a due time while the previous run is active; `skip` by default.
    overlap: NotRequired[Literal['skip', 'queue', 'cancel_previous'] | None]
    # The times missed within `window` that are made up for; `one` by default.
    catchUp: NotRequired[Literal['none', 'one', 'all'] | None]
    # The age of missed times that are still made up for; `1h` by default.
    window: NotRequired[str | None]
    # The longest delay after a due time, different for each; `0s` by default.
    jitter: NotRequired[str | None]


class Schedules(TypedDict):
    """All schedules that the caller sees."""

    schedules: list[Schedule]


class Scope(TypedDict):
    """A name runs remember under."""

    scope: str
    # The kind of entries: texts that tasks store, or critiques of reflections.
    type: Literal['memory', 'reflection']
    entries: int
    # True where it cannot be read: then only the data of its row is shown.
    damaged: NotRequired[bool]
    # The reason why it cannot be read.
    damagedReason: NotRequired[str]


class Scopes(TypedDict):
    """Names that runs remember under."""

    scopes: list[Scope]
    total: int


class SearchResult(TypedDict):
    """Something that was found."""

    # The kind of the match.
    kind: Literal['run', 'thread', 'workflow', 'document']
    # The id of the run, thread or workflow; of a document its collection and number, as `kitchen/1`.
    id: str
    title: str
    # The words around the first match, in one line.
    snippet: str
    at: str
    # True where it cannot be read: then only the data of its row is shown.
    damaged: NotRequired[bool]
    # The reason why it cannot be read.
    damagedReason: NotRequired[str]


class SearchResults(TypedDict):
    """Everything that was found."""

    results: list[SearchResult]


class ServerSentEvent(TypedDict):
    """One event of a stream."""

    # The frame, or an `error` that ends the stream.
    data: str
    # The frame's type.
    event: NotRequired[str]
    # The event's number; what is not stored has none.
    id: NotRequired[str]


class Status(TypedDict):
    """The status of the server."""

    # The status of a server that is running.
    status: Literal['running']
    clients: int
    port: int
    # The lifecycle of a server.
    lifecycleState: Literal['STARTING', 'READY', 'DRAINING']
    activeTasks: int
    queueDepth: int
    ensemble: str
    version: str
    sharedCapabilities: list[Capability]
    # The direct links to the other nodes; what a node without one does is seen half a second later, and without the
    # words of its models.
    links: Literal['all', 'some', 'none']


class Steered(TypedDict):
    """The result of steering a run."""

    runId: str
    # The new state of a run.
    status: Literal['CANCELLING', 'PAUSED', 'RESUMED']
    # The fields of the request that were ignored, because they are unknown.
    warnings: NotRequired[list[str]]


class Stopped(TypedDict):
    """A turn that was stopped."""

    threadId: str
    turnId: str
    # The status of a turn that was asked to stop.
    status: Literal['STOPPING']
    # The fields of the request that were ignored, because they are unknown.
    warnings: NotRequired[list[str]]


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
    # The description of the task.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round
    # 1.
    turnId: str
    # The index of the item that the task is done for, from 0.
    item: NotRequired[int]
    # The round of its group, from 0.
    round: NotRequired[int]
    # The call, and from now on the subtask.
    callId: str
    # Its title.
    title: str
    # The instructions for its model.
    instructions: str
    # The tools it may call.
    toolNames: list[str]
    # The nesting depth, from 1.
    depth: int


class Switched(TypedDict):
    """A run that asks another model."""

    runId: str
    model: str
    previousModel: str | None
    # The status of a change that is applied.
    status: Literal['APPLIED']
    # The fields of the request that were ignored, because they are unknown.
    warnings: NotRequired[list[str]]


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
    # The requester who gave it another output when this run was made of another.
    outputEditedBy: NotRequired[str]
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
    # The cause of the skip.
    cause: NotRequired[Literal['condition', 'upstream', 'ended']]
    # The text of a cut answer, where the task failed.
    partialOutput: NotRequired[str]
    # Whether the output was cut at the output limit and accepted as it is.
    truncated: NotRequired[bool]
    subtasks: NotRequired[list[Subtask]]
    # The group it is in.
    group: NotRequired[str]
    # The instances of a task that is done for each item or in rounds.
    instances: NotRequired[list[Instance]]


class TaskCompletedFrame(Event):
    """A task has its output."""

    type: Literal['task_completed']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # The description of the task.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round
    # 1.
    turnId: str
    # The index of the item that the task is done for, from 0.
    item: NotRequired[int]
    # The round of its group, from 0.
    round: NotRequired[int]
    # The name of the task.
    taskName: NotRequired[str]
    # The number of tasks of the run.
    totalTasks: int
    # When it was done.
    completedAt: str
    # The duration of the task.
    durationMs: int
    # Tokens it used; -1 when unknown.
    tokenCount: int
    # Tool calls it made.
    toolCallCount: int
    # The output.
    output: NotRequired[str]
    # The output as data, where the task has a schema.
    parsedOutput: NotRequired[Any]
    # True when the output was cut at the output limit and is accepted as it is.
    truncated: NotRequired[bool | None]


class TaskFailedFrame(Event):
    """A task has failed or was stopped."""

    type: Literal['task_failed']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # The description of the task.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round
    # 1.
    turnId: str
    # The index of the item that the task is done for, from 0.
    item: NotRequired[int]
    # The round of its group, from 0.
    round: NotRequired[int]
    # The name of the task.
    taskName: NotRequired[str]
    # The time.
    failedAt: str
    # The reason.
    reason: str
    # True when it was stopped.
    cancelled: NotRequired[bool]
    # The text of the answer so far when it failed.
    partialOutput: NotRequired[str]


class TaskInputFrame(Event):
    """The prompt of a task."""

    type: Literal['task_input']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # The description of the task.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round
    # 1.
    turnId: str
    # The index of the item that the task is done for, from 0.
    item: NotRequired[int]
    # The round of its group, from 0.
    round: NotRequired[int]
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

    # The work to do; may have `{variables}`. Needed, unless there is a `workflow`.
    description: NotRequired[str | None]
    # Instead of a description: a saved workflow, by its id or its name, as a part of the run.
    workflow: NotRequired[str | None]
    # Values of the workflow's inputs; strings may have `{variables}`.
    inputs: NotRequired[dict[str, Any] | None]
    # Its name, unique in the run.
    name: NotRequired[str | None]
    # A description of the output.
    expectedOutput: NotRequired[str | None]
    # The agent that does it; derived from the description when absent.
    agent: NotRequired[AgentRequest | None]
    # Further context for the agent.
    additionalContext: NotRequired[str | None]
    # The alias of the model.
    model: NotRequired[str | None]
    # Options for the models' answers.
    modelOptions: NotRequired[ModelOptions | None]
    # Tools the agent may call.
    tools: NotRequired[list[str] | None]
    # Tasks whose output it reads, as `$name` or an index.
    context: NotRequired[list[str] | None]
    # The maximum number of rounds of model calls.
    maxIterations: NotRequired[int | str | None]
    # The treatment of an answer that is cut at the output limit; continue when absent. One of continue, fail, accept,
    # in any case.
    onTruncated: NotRequired[str | None]
    # A JSON Schema its output must fit.
    outputSchema: NotRequired[Any]
    # Whether a person reviews its output, regardless of `reviewPolicy`. One of required, skip, in any case.
    review: NotRequired[str | None]
    # A condition in CEL; when it is false, the task is skipped. Tasks it names come first.
    when: NotRequired[str | None]
    # A list in CEL: the task is done once for each item, and its output is the list of outputs.
    forEach: NotRequired[str | None]
    # The maximum number of items; 100 when absent.
    maxItems: NotRequired[int | str | None]
    # The number of items under way at the same time; 8 when absent.
    maxParallel: NotRequired[int | str | None]
    # The ids of files that were uploaded to `/api/attachments`; may be `{variables}`.
    attachments: NotRequired[list[str] | None]


class TaskSkippedFrame(Event):
    """A task will not run."""

    type: Literal['task_skipped']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # The description of the task.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round
    # 1.
    turnId: str
    # The index of the item that the task is done for, from 0.
    item: NotRequired[int]
    # The round of its group, from 0.
    round: NotRequired[int]
    # The name of the task.
    taskName: NotRequired[str]
    # The reason, in words.
    reason: str
    # The reason, as one word: only after `condition` do the tasks that read it go on.
    cause: Literal['condition', 'upstream', 'ended']


class TaskStartedFrame(Event):
    """A task has begun."""

    type: Literal['task_started']
    # The number of the task, from 1.
    taskIndex: int
    # The role of the agent.
    agentRole: str
    # The description of the task.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round
    # 1.
    turnId: str
    # The index of the item that the task is done for, from 0.
    item: NotRequired[int]
    # The round of its group, from 0.
    round: NotRequired[int]
    # The name of the task.
    taskName: NotRequired[str]
    # The number of tasks of the run.
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
    # The requester who gave it another output when this run was made of another.
    outputEditedBy: NotRequired[str]


class TaskTraceMetadata(TypedDict):
    """The task of a conversation."""

    taskName: str
    turnId: str
    # The calls that the run makes itself.
    chores: list[TraceCall]


class TaskUpdateFrameTask(TypedDict):
    """The task."""

    # Its name.
    name: NotRequired[str | None]
    # The work to do.
    description: NotRequired[str | None]
    # The tools it may call.
    tools: NotRequired[list[str] | None]
    # The tasks it reads from.
    context: NotRequired[list[str] | None]
    # Its output.
    output: NotRequired[str | None]
    # The reason why it was skipped or failed.
    reason: NotRequired[str]


class TaskUpdateFrame(ChatEvent):
    """A task of a workflow was planned, begun or ended."""

    type: Literal['task_update']
    # The call that the subtask is; null for the turn itself.
    parent_id: str | None
    # The nesting depth of the subtask.
    depth: int
    # The change.
    event: Literal['planned', 'started', 'completed', 'skipped', 'failed']
    # The task.
    task: TaskUpdateFrameTask


class Thread(TypedDict):
    """A chat."""

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
    # The permission mode of its turns, where a message has none and it was changed.
    permissionMode: Literal['plan', 'default', 'auto'] | None
    # The chat that it branches off from, where it does.
    branchOf: NotRequired[Branch]
    # True where it cannot be read: then only the data of its row is shown.
    damaged: NotRequired[bool]
    # The reason why it cannot be read.
    damagedReason: NotRequired[str]
    # The fields of the request that were ignored, because they are unknown.
    warnings: NotRequired[list[str]]


class ThreadChange(TypedDict):
    """Changes to a chat."""

    title: NotRequired[str | None]
    permission_mode: NotRequired[Literal['plan', 'default', 'auto'] | None]


class ThreadMemory(TypedDict):
    """The search for facts in turns whose messages asked for it with `memory_enabled`."""

    # The turns that are still to be searched for facts.
    pending: list[str]
    last: Mined | None


class ThreadRequest(TypedDict):
    """A chat that is to begin."""

    title: NotRequired[str | None]
    # Begins it with what was said in another chat, which stays as it is.
    branch_of: NotRequired[BranchRequest | None]


class Threads(TypedDict):
    """The chats of a client."""

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
    # The description of the task.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round
    # 1.
    turnId: str
    # The index of the item that the task is done for, from 0.
    item: NotRequired[int]
    # The round of its group, from 0.
    round: NotRequired[int]
    # The text.
    token: str
    # The position of the text in the answer, in bytes. Whoever joins while a model answers gets all of it so
    # far, from 0.
    offset: int
    # When they came.
    sentAt: str


class Tool(TypedDict):
    """A tool that agents can be given."""

    name: str
    description: str
    # Permission classes.
    permission: Literal['safe', 'knowledge', 'network', 'workspace_write', 'editor_mutate', 'subagent', 'secrets', 'execute']
    # The effect of making a call twice; it decides what happens to a call whose owner died.
    effect: Literal['read', 'idempotent', 'once']
    # A JSON Schema.
    inputSchema: Any
    # Whether it may be called directly.
    direct: bool
    # The reason why it cannot be called at the moment.
    unavailable: NotRequired[str]


class ToolApprovalRequestFrame(ChatEvent):
    """A call waits for permission."""

    type: Literal['tool_approval_request']
    # The call that the subtask is; null for the turn itself.
    parent_id: str | None
    # The nesting depth of the subtask.
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
    # The reason for the question.
    reason: Literal['effect', 'taint', 'instructions']
    # The host, or the name of the MCP server or peer, that the arguments would go to.
    host: str | None
    # The size of the arguments in bytes.
    bytes: int
    # The sources that the chat has read and its user did not write, where they are the reason for the question.
    sources: list[str]
    # When it was asked.
    created_at: str
    # When it counts as denied.
    expires_at: str | None


class ToolApprovalResolvedFrame(ChatEvent):
    """The question for permission is decided."""

    type: Literal['tool_approval_resolved']
    # Its id.
    approval_id: str
    # The decision.
    decision: Literal['allow', 'allow_for_chat', 'deny', 'expired', 'closed']
    # The name of the caller that decided.
    by: str
    # The arguments that the caller put in the place of the model's.
    args: NotRequired[Any]


class ToolCallFrame(ChatEvent):
    """A call that the client is to make."""

    type: Literal['tool_call']
    # The call that the subtask is; null for the turn itself.
    parent_id: str | None
    # The nesting depth of the subtask.
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
    # The call that the subtask is; null for the turn itself.
    parent_id: str | None
    # The nesting depth of the subtask.
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
    # Whether it begins or has ended.
    status: Literal['start', 'end']
    # The title of a subtask, at its beginning.
    message: NotRequired[str | None]
    # The duration, at its end.
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
    # The description of the task.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round
    # 1.
    turnId: str
    # The index of the item that the task is done for, from 0.
    item: NotRequired[int]
    # The round of its group, from 0.
    round: NotRequired[int]
    # The call.
    callId: str
    # The tool.
    toolName: str
    # The duration.
    durationMs: int
    # Whether it worked.
    outcome: Literal['SUCCESS', 'FAILURE']
    # The arguments, as the model wrote them.
    toolArguments: str
    # The result in words.
    toolResult: str
    # The result as data, where the tool has one.
    structuredResult: Any
    # `TOOL_TIMEOUT` when the tool took longer than its own limit.
    error: NotRequired[Literal['TOOL_TIMEOUT']]


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
    # The description of the task.
    taskDescription: str
    # The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round
    # 1.
    turnId: str
    # The index of the item that the task is done for, from 0.
    item: NotRequired[int]
    # The round of its group, from 0.
    round: NotRequired[int]
    # The call.
    callId: str
    # The tool.
    toolName: str
    # The arguments, as the model wrote them.
    toolArguments: str


class ToolProgressFrame(TypedDict):
    """The progress of a call."""

    type: Literal['tool_progress']
    # The progress as one word.
    status: NotRequired[str]
    # The progress as a sentence.
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
    # The content of an exported trace.
    captureMode: Literal['OFF', 'STANDARD', 'FULL']
    ensembleId: str
    # The order of the tasks.
    workflow: Literal['SEQUENTIAL', 'PARALLEL', 'HIERARCHICAL']
    startedAt: str
    completedAt: str | None
    totalDuration: str
    inputs: dict[str, Any]
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
    """The cost."""

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
    """The usage of a run or a conversation."""

    # -1 when some model did not report it.
    inputTokens: int
    # -1 when some model did not report it.
    outputTokens: int
    # -1 when some model did not report it.
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
    # -1 when the model did not report it.
    inputTokens: int
    # -1 when the model did not report it.
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
    # The duration.
    duration_ms: int


class Triggered(TypedDict):
    """A run that was begun."""

    runId: str
    # The fields of the request that were ignored, because they are unknown.
    warnings: NotRequired[list[str]]


class TurnAdoptedFrame(ChatEvent):
    """A process has taken the turn over; calls of the one before are lost."""

    type: Literal['turn_adopted']
    # Greater with each process that has the turn, from 1.
    epoch: int
    # The name of the node that has it now.
    node: NotRequired[str]
    # The reason why it has it.
    reason: NotRequired[Literal['begun', 'claimed', 'takeover', 'drained']]


class TurnStartedFrame(ChatEvent):
    """The turn begins."""

    type: Literal['turn_started']
    # The alias of its model.
    model: str
    # The permission mode: the calls that may be made without asking.
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


class Webhook(TypedDict):
    """A program that is notified of runs."""

    name: str
    # Without its user and its query, which may be secrets.
    url: str
    events: list[Literal['run.completed', 'run.failed', 'run.cancelled', 'review.requested', 'approval.requested']]
    # Only runs with all of these.
    tags: dict[str, str]
    # Only runs of this owner; null: of all.
    owner: str | None
    # The number of messages that wait to be sent, or to be sent again.
    pending: int


class Webhooks(TypedDict):
    """The programs that are told of runs."""

    webhooks: list[Webhook]


class Workflow(TypedDict):
    """A version of a saved workflow."""

    id: str
    version: int
    createdAt: str
    updatedAt: str
    updatedBy: str
    # The name.
    name: str
    # The purpose.
    description: NotRequired[str]
    # The tasks as they were sent, each with its place on the canvas.
    tasks: list[WorkflowTask]
    # Groups of its tasks, as they were sent.
    groups: NotRequired[list[GroupRequest]]
    # Defaults for template variables.
    inputs: NotRequired[dict[str, Any]]
    # Options of its runs, as they were sent.
    options: NotRequired[Options]
    # The options for the models' answers in its runs, as they were sent.
    modelOptions: NotRequired[ModelOptions]
    warnings: NotRequired[list[str]]


class WorkflowDocument(TypedDict):
    """A task graph as people draw it; what was shown may be sent back."""

    # The name.
    name: str
    # Its tasks.
    tasks: list[WorkflowTask]
    # Groups of its tasks.
    groups: NotRequired[list[GroupRequest] | None]
    # The purpose.
    description: NotRequired[str | None]
    # Defaults for template variables, of any type.
    inputs: NotRequired[dict[str, Any] | None]
    # Settings for the execution of its runs.
    options: NotRequired[Options | None]
    # Options for the models' answers in its runs.
    modelOptions: NotRequired[ModelOptions | None]


class WorkflowRun(TypedDict):
    """A request for a run of a workflow."""

    # Values of template variables, of any type.
    inputs: NotRequired[dict[str, Any] | None]
    # Labels to find it by.
    tags: NotRequired[dict[str, str | float | bool | None] | None]
    # Settings for the execution of the run.
    options: NotRequired[Options | None]
    # Options for the models' answers.
    modelOptions: NotRequired[ModelOptions | None]
    # Whether to only report what would run.
    dryRun: NotRequired[bool | None]


class WorkflowTask(TypedDict):
    """A task, and where it stands on the canvas."""

    # The work to do; may have `{variables}`. Needed, unless there is a `workflow`.
    description: NotRequired[str | None]
    # Instead of a description: a saved workflow, by its id or its name, as a part of the run.
    workflow: NotRequired[str | None]
    # Values of the workflow's inputs; strings may have `{variables}`.
    inputs: NotRequired[dict[str, Any] | None]
    # Its name, unique in the run.
    name: NotRequired[str | None]
    # A description of the output.
    expectedOutput: NotRequired[str | None]
    # The agent that does it; derived from the description when absent.
    agent: NotRequired[AgentRequest | None]
    # Further context for the agent.
    additionalContext: NotRequired[str | None]
    # The alias of the model.
    model: NotRequired[str | None]
    # Options for the models' answers.
    modelOptions: NotRequired[ModelOptions | None]
    # Tools the agent may call.
    tools: NotRequired[list[str] | None]
    # Tasks whose output it reads, as `$name` or an index.
    context: NotRequired[list[str] | None]
    # The maximum number of rounds of model calls.
    maxIterations: NotRequired[int | str | None]
    # The treatment of an answer that is cut at the output limit; continue when absent. One of continue, fail, accept,
    # in any case.
    onTruncated: NotRequired[str | None]
    # A JSON Schema its output must fit.
    outputSchema: NotRequired[Any]
    # Whether a person reviews its output, regardless of `reviewPolicy`. One of required, skip, in any case.
    review: NotRequired[str | None]
    # A condition in CEL; when it is false, the task is skipped. Tasks it names come first.
    when: NotRequired[str | None]
    # A list in CEL: the task is done once for each item, and its output is the list of outputs.
    forEach: NotRequired[str | None]
    # The maximum number of items; 100 when absent.
    maxItems: NotRequired[int | str | None]
    # The number of items under way at the same time; 8 when absent.
    maxParallel: NotRequired[int | str | None]
    # The ids of files that were uploaded to `/api/attachments`; may be `{variables}`.
    attachments: NotRequired[list[str] | None]
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
    # True where it cannot be read: then only the data of its row is shown.
    damaged: NotRequired[bool]
    # The reason why it cannot be read.
    damagedReason: NotRequired[str]


class Workflows(TypedDict):
    """A page of saved workflows."""

    workflows: list[ListedWorkflow]
    total: int


class WorkspaceItem(TypedDict):
    """A file or a folder of the workspace."""

    name: str
    # The type of an item of a folder.
    type: Literal['file', 'directory']
    size: NotRequired[int]
    lastModified: NotRequired[str]


AnswerEmptyFrame: TypeAlias = "AnswerEmptyFrame1 | AnswerEmptyFrame2"

AnswerTruncatedFrame: TypeAlias = "AnswerTruncatedFrame1 | AnswerTruncatedFrame2"

ChunkFrame: TypeAlias = "ChunkFrame1 | ChunkFrame2"

# An id, or an object with one.
ConversationParam: TypeAlias = "str | dict[str, Any]"

# A frame of an event, or of something under way; `type` says which.
Frame: TypeAlias = "RunAcceptedFrame | RunAdoptedFrame | RunForkedFrame | EnsembleStartedFrame | BeltComposedFrame | ExpressionEvaluatedFrame | TaskStartedFrame | TaskInputFrame | ChoreStartedFrame | ReflectionStartedFrame | LlmIterationStartedFrame | ModelRetriedFrame | LlmIterationCompletedFrame | AnswerTruncatedFrame | AnswerEmptyFrame | MetricsSnapshotFrame | ModelFailedFrame | HistoryDroppedFrame | OutputRejectedFrame | LastRoundFrame | LoopNoticedFrame | CallChargedFrame | ToolDispatchedFrame | FinishDemandedFrame | SubtaskStartedFrame | DelegationStartedFrame | DelegationCompletedFrame | DelegationFailedFrame | ToolCalledFrame | FileChangedFrame | ReviewRequestedFrame | ReviewDecidedFrame | ReviewTimedOutFrame | ReviewClosedFrame | TaskCompletedFrame | TaskFailedFrame | TaskSkippedFrame | DirectiveActiveFrame | DirectiveDeliveredFrame | ModelSwitchedFrame | CancelRequestedFrame | RunPausedFrame | RunResumedFrame | BudgetRaisedFrame | BudgetExceededFrame | EnsembleCompletedFrame | TurnAdoptedFrame | TurnStartedFrame | LlmStartedFrame | LlmCompletedFrame | LlmVoidedFrame | MessageFrame | ToolCallUpdateFrame | ToolCallFrame | ToolApprovalRequestFrame | ToolApprovalResolvedFrame | GrantWithdrawnFrame | PermissionModeChangedFrame | PlanningUpdateFrame | TaskUpdateFrame | TurnStoppedFrame | ErrorFrame | ChunkFrame | CostSummaryFrame | TokenFrame | ToolProgressFrame | RunResultFrame"

# The answer to a sender when no run was begun.
HookAnswer: TypeAlias = "HookAnswer1 | HookAnswer2"

# A message, or a list of messages.
ResponseInput: TypeAlias = "str | list[dict[str, Any]]"
