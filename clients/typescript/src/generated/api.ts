// Made from openapi.json by `npm run types`.

import type * as frames from './frames.js';

/** An accepted run. */
export interface Accepted {
  runId: string;
  /** The status of an accepted run. */
  status: 'ACCEPTED';
  tasks: number;
  /** The order of the tasks. */
  workflow: 'SEQUENTIAL' | 'PARALLEL' | 'HIERARCHICAL';
  warnings?: string[];
  /** The run it retries. */
  retryOf?: string;
  forkedFrom?: ForkedFrom;
  /** The number of runs before it in the queue, while it waits. */
  queuePosition?: number;
}

/** A document that was stored. */
export interface AddedDocument {
  id: number;
  collection: string;
  title: string;
  /** Whether it is found by its meaning too. False without `[chat] embeddings`, and while that model does not answer: it is asked again later. */
  embedded: boolean;
  /** The fields of the request that were ignored, because they are unknown. */
  warnings?: string[];
}

/** The agent of a task. */
export interface AgentRequest {
  /** The role. */
  role: string;
  /** The goal; the description when absent. */
  goal?: string | null;
  /** The background: the agent's experience. */
  background?: string | null;
  /** Whether it may hand work to the agents of other tasks. */
  allowDelegation?: boolean | null;
}

/** A call that was answered. */
export interface Answered {
  approval_id: string;
  decision: 'allow' | 'allow_for_chat' | 'deny';
  /** The status of a change that is applied. */
  status: 'APPLIED';
  /** The fields of the request that were ignored, because they are unknown. */
  warnings?: string[];
}

/** A call of a chat that waits for a person. */
export interface Approval {
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
  /** Its thread. */
  thread_id: string;
  /** Its turn. */
  turn_id: string;
}

/** A person's answer to a question for permission. */
export interface ApprovalRequest {
  /** One of allow, allow_for_chat, deny, in any case. */
  decision: string;
  /** The arguments to make the call with, in the place of the model's; only with `allow`. */
  args?: Record<string, unknown> | null;
}

/** The calls of a client's chats that wait for a person. */
export interface Approvals {
  total: number;
  approvals: Approval[];
}

/** A file that is attached to a message or a task: a name for bytes that are stored apart. */
export interface Attached {
  /** The id of the attachment. */
  id: string;
  /** The name of the file. */
  name: string;
  /** The type of the file. */
  media_type: string;
  /** The size of the file in bytes. */
  bytes: number;
}

/** A file that was uploaded. */
export interface Attachment {
  id: string;
  name: string;
  mediaType: string;
  bytes: number;
  /** The hash of the file, in hexadecimal digits. */
  sha256: string;
}

/** A hook that began a run. */
export interface BegunHook {
  name: string;
  /** The delivery, as its sender named it. */
  deliveryId: string;
}

/** A schedule that began a run. */
export interface BegunSchedule {
  name: string;
  /** When the run was due. */
  due: string;
}

/** The place in another chat at which one branches off. */
export interface Branch {
  /** The other chat, which may have been erased since. */
  threadId: string;
  /** The turn of it before which this one branches off. */
  turnId: string;
}

/** The place in another chat at which one branches off. */
export interface BranchRequest {
  /** The other chat. */
  thread_id: string;
  /** The turn of it before which the new one branches off. */
  before: string;
}

/** The limits to raise; the others stay as they are. */
export interface BudgetRequest {
  maxTotalSubtasks?: number | null;
  maxTotalLlmCalls?: number | null;
  maxTotalToolCalls?: number | null;
  maxWallClockMs?: number | null;
  maxTotalTokens?: number | null;
  maxCostUsd?: number | null;
}

/** A request to cancel a run. */
export interface CancelRequest {
  /** The point at which it stops; after_task when absent. One of after_task, after_iteration, now, in any case. */
  mode?: string | null;
}

/** Everything that a request can choose from. */
export interface Capabilities {
  tools: Tool[];
  models: Model[];
  preconfiguredTasks: PreconfiguredTask[];
  /** The default values of template variables. */
  inputs: Record<string, unknown>;
  sharedTasks: Capability[];
  sharedTools: Capability[];
  /** Servers whose tools come and go. */
  mcpServers: McpServer[];
}

/** A capability that others may use. */
export interface Capability {
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
}

/** A chat completion. */
export interface ChatCompletion {
  id: string;
  object: 'chat.completion';
  /** When it was asked for, in seconds since 1970. */
  created: number;
  model: string;
  choices: CompletionChoice[];
  usage: CompletionUsage;
  conversation?: CompletionConversation;
  /** The parts of the request that were ignored. */
  warnings?: string[];
}

/** Documents to be searched. */
export interface Collection {
  name: string;
  documents: number;
  createdAt: string;
  updatedAt: string;
  /** True where it cannot be read: then only the data of its row is shown. */
  damaged?: boolean;
  /** The reason why it cannot be read. */
  damagedReason?: string;
  /** The fields of the request that were ignored, because they are unknown. */
  warnings?: string[];
}

/** A collection that is to be made. */
export interface CollectionRequest {
  name: string;
}

/** All collections. */
export interface Collections {
  collections: Collection[];
}

/** A store without what was deleted from it. */
export interface Compacted {
  /** The status of a store that was compacted. */
  status: 'COMPACTED';
  /** The fields of the request that were ignored, because they are unknown. */
  warnings?: string[];
}

/** The answer; there is one. */
export interface CompletionChoice {
  index: number;
  message: CompletionMessage;
  /** The reason why the answer ends. */
  finish_reason: 'stop' | 'length';
  logprobs: null;
}

/** The chat that an answer belongs to. */
export interface CompletionConversation {
  /** The id of its thread. */
  id: string;
}

/** The part of the answer that was reasoning. */
export interface CompletionDetails {
  reasoning_tokens: number;
}

/** The message of the model. */
export interface CompletionMessage {
  role: 'assistant';
  content: string;
  refusal: null;
  /** The work that was done for the answer: a line for each tool call or task. */
  reasoning_content?: string;
}

/** A chat completion that is asked for; fields of OpenAI's that are not listed change nothing. */
export interface CompletionRequest {
  /** `consort`, or `consort/<name>`. */
  model: string;
  /** The conversation; the last message is the user's. Parts of the user's messages may be pictures (`image_url`) and files (`file`), as `data:` addresses or by the `file_id` of an attachment. */
  messages: Record<string, unknown>[];
  /** Send the answer as it comes. */
  stream?: boolean | null;
  stream_options?: Record<string, unknown> | null;
  /** The thread to go on with, or a name of your own for one; without it the request is a conversation of its own, which is erased after a day. */
  conversation?: string | null;
  /** Inputs of a run. */
  metadata?: Record<string, unknown> | null;
  temperature?: number | null;
  top_p?: number | null;
  seed?: number | null;
  reasoning_effort?: string | null;
}

/** The tokens of everything that was done for the answer. */
export interface CompletionUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details: PromptDetails;
  completion_tokens_details: CompletionDetails;
}

/** An id, or an object with one. */
export type ConversationParam = string | Record<string, unknown>;

/** The cost, in dollars. */
export interface Cost {
  inputCost: number;
  outputCost: number;
}

/** A task that is under way. */
export interface CurrentTask {
  name: string;
  index: number;
}

/** A decision that holds. */
export interface Decided {
  reviewId: string;
  decision: string;
  /** The status of a change that is applied. */
  status: 'APPLIED';
  /** The fields of the request that were ignored, because they are unknown. */
  warnings?: string[];
}

/** A person's decision about an output. */
export interface DecisionRequest {
  /** The decision; APPROVE is the same as CONTINUE. One of CONTINUE, APPROVE, EDIT, EXIT_EARLY, REJECT, in any case. */
  decision: string;
  /** The new output; required for EDIT. */
  revisedOutput?: string | null;
  /** The feedback; required for REJECT. */
  feedback?: string | null;
}

/** A page of deliveries to a webhook. */
export interface Deliveries {
  deliveries: Delivery[];
  total: number;
}

/** A delivery as clients see it. */
export interface Delivery {
  /** The id of the message, the same on every attempt: the header `webhook-id`. */
  id: string;
  /** The topic of an announcement. */
  event: 'run.completed' | 'run.failed' | 'run.cancelled' | 'review.requested' | 'approval.requested';
  /** The run; of an approval the turn. */
  runId: string;
  /** The state of a delivery. */
  status: 'pending' | 'delivered' | 'dead';
  /** The oldest first. */
  attempts: DeliveryAttempt[];
  /** When it is tried next; null when it is not. */
  nextAt: string | null;
  /** The fields of the request that were ignored, because they are unknown. */
  warnings?: string[];
}

/** An attempt to deliver a message. */
export interface DeliveryAttempt {
  at: string;
  /** The status of the answer; null when there was none. */
  status: number | null;
  error: string | null;
}

/** A document with its text. */
export interface Document {
  id: number;
  title: string;
  mediaType: string;
  /** The size of the file that it was. */
  bytes: number;
  createdAt: string;
  /** True where it cannot be read: then only the data of its row is shown. */
  damaged?: boolean;
  /** The reason why it cannot be read. */
  damagedReason?: string;
  /** The text that is searched: HTML as Markdown, of a PDF and a DOCX file the words. */
  content: string;
  /** The number of its pages, if it has pages. */
  pages?: number;
}

/** A document that is to be stored. */
export interface DocumentRequest {
  title: string;
  content: string;
}

/** The documents of a collection. */
export interface Documents {
  documents: ListedDocument[];
}

/** A server that is about to stop. */
export interface Drained {
  /** The status of a server that was asked to stop. */
  status: 'DRAINING';
  /** The fields of the request that were ignored, because they are unknown. */
  warnings?: string[];
}

/** Changes a new run begins with. */
export interface Edits {
  /** The first event that is not taken over; everything when absent. For forks. */
  seq?: number | null;
  /** Instead of `seq`: what stands before this task began is taken over. For forks. */
  task?: string | null;
  /** Values of template variables, of any type. */
  inputs?: Record<string, unknown> | null;
  /** Labels to find it by. */
  tags?: Record<string, string | number | boolean | null> | null;
  /** The alias of the model to ask. */
  model?: string | null;
  /** Other outputs of tasks that are taken over, by their names: the tasks that read them go on with these. A fork without `seq` and `task` then begins before the first of those tasks. */
  outputs?: Record<string, string> | null;
  /** Changes to tasks that have not begun, by their names. */
  taskOverrides?: Record<string, Override> | null;
  /** Settings for the execution of the run. */
  options?: Options | null;
  /** Options for the models' answers. */
  modelOptions?: ModelOptions | null;
  /** Whether to only report what would run. */
  dryRun?: boolean | null;
}

/** The calls of a turn. */
export interface ExecutionTree {
  /** The version of this shape. */
  version: number;
  /** The calls, in the order they were asked for. */
  nodes: TreeNode[];
}

/** The facts that are remembered about the caller. */
export interface Facts {
  facts: RememberedFact[];
  total: number;
}

/** The files in the folder of traces. */
export interface Files {
  files: ListedFile[];
  directory: string;
}

/** The result of forgetting facts. */
export interface Forgotten {
  forgotten: number;
}

/** The run it was forked from, and the first event it did not take. */
export interface ForkedFrom {
  runId: string;
  seq: number;
}

/** A frame of an event, or of something under way; `type` says which. */
export type Frame =
  | frames.ServerRunAccepted
  | frames.ServerRunAdopted
  | frames.ServerRunForked
  | frames.ServerEnsembleStarted
  | frames.ServerBeltComposed
  | frames.ServerExpressionEvaluated
  | frames.ServerTaskStarted
  | frames.ServerTaskInput
  | frames.ServerChoreStarted
  | frames.ServerReflectionStarted
  | frames.ServerLlmIterationStarted
  | frames.ServerModelRetried
  | frames.ServerLlmIterationCompleted
  | frames.ServerAnswerTruncated
  | frames.ServerAnswerEmpty
  | frames.ServerMetricsSnapshot
  | frames.ServerModelFailed
  | frames.ServerHistoryDropped
  | frames.ServerOutputRejected
  | frames.ServerLastRound
  | frames.ServerLoopNoticed
  | frames.ServerCallCharged
  | frames.ServerToolDispatched
  | frames.ServerFinishDemanded
  | frames.ServerSubtaskStarted
  | frames.ServerDelegationStarted
  | frames.ServerDelegationCompleted
  | frames.ServerDelegationFailed
  | frames.ServerToolCalled
  | frames.ServerFileChanged
  | frames.ServerReviewRequested
  | frames.ServerReviewDecided
  | frames.ServerReviewTimedOut
  | frames.ServerReviewClosed
  | frames.ServerTaskCompleted
  | frames.ServerTaskFailed
  | frames.ServerTaskSkipped
  | frames.ServerDirectiveActive
  | frames.ServerDirectiveDelivered
  | frames.ServerModelSwitched
  | frames.ServerCancelRequested
  | frames.ServerRunPaused
  | frames.ServerRunResumed
  | frames.ServerBudgetRaised
  | frames.ServerBudgetExceeded
  | frames.ServerEnsembleCompleted
  | frames.ServerTurnAdopted
  | frames.ServerTurnStarted
  | frames.ServerLlmStarted
  | frames.ServerLlmCompleted
  | frames.ServerLlmVoided
  | frames.ServerMessage
  | frames.ServerToolCallUpdate
  | frames.ServerToolCall
  | frames.ServerToolApprovalRequest
  | frames.ServerToolApprovalResolved
  | frames.ServerGrantWithdrawn
  | frames.ServerPermissionModeChanged
  | frames.ServerPlanningUpdate
  | frames.ServerTaskUpdate
  | frames.ServerTurnStopped
  | frames.ServerError
  | frames.ServerChunk
  | frames.ServerCostSummary
  | frames.ServerToken
  | frames.ServerToolProgress
  | frames.ServerRunResult;

/** A page of frames. */
export interface Frames {
  events: Frame[];
  /** Of a chat: the events that cannot be read, of turns that are damaged. */
  damaged?: Gap[];
}

/** Numbers of a thread that are missing. */
export interface Gap {
  /** The turn that cannot be read. */
  turn: string;
  /** The first number that is missing. */
  from: number;
  /** The last one, as far as it is known how many events the turn had. */
  to?: number;
  /** The description of the damage. */
  reason: string;
}

/** The calls that are to be given up. */
export interface GiveUpRequest {
  /** The task, or the role of its agent; all when absent. */
  task?: string | null;
}

/** A run that waits no longer for its models. */
export interface GivenUp {
  runId: string;
  /** The number of calls that were given up. */
  calls: number;
  /** The status of a change that is applied. */
  status: 'APPLIED';
  /** The fields of the request that were ignored, because they are unknown. */
  warnings?: string[];
}

/** An ensemble that went away. */
export interface GonePeer {
  name: string;
  /** When it went away. */
  at: string;
  ensemble?: string;
  realm?: string;
  version?: string;
  /** The capabilities that it shares, or shared. */
  sharedCapabilities: Capability[];
}

/** A permission that was given for the rest of a chat. */
export interface Grant {
  /** The id to take it back by. */
  id: string;
  /** The tool that may be called. */
  tool: string;
  /** The host, MCP server or peer that it may send to; null when it sends nothing. */
  host: string | null;
  /** When it was allowed. */
  grantedAt: string;
  /** True where the tool is not the one that was shown then: it is described otherwise, and is asked about again. */
  lapsed?: boolean;
}

/** The permissions that were given for the rest of a chat. */
export interface Grants {
  grants: Grant[];
}

/** Tasks that are skipped, repeated or fanned out together; it has `repeatUntil` or `forEach`, not both. */
export interface GroupRequest {
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
}

/** Whether the server takes work. */
export interface Health {
  /** The answer to a probe. */
  status: 'STARTED' | 'NOT_STARTED' | 'READY' | 'NOT_READY';
  /** The lifecycle of a server. */
  lifecycleState: 'STARTING' | 'READY' | 'DRAINING';
  /** The reason why it takes no work although it has started: nothing can be stored. */
  reason?: string;
}

/** A passage that was found. */
export interface Hit {
  collection: string;
  documentId: number;
  title: string;
  /** The page it is on, from 1, in documents with pages. */
  page?: number;
  /** The line it begins in, from 1, in documents without pages. */
  line?: number;
  snippet: string;
  score: number;
}

/** Passages that were found. */
export interface Hits {
  results: Hit[];
}

/** The answer to a sender when no run was begun. */
export type HookAnswer = {
  skipped: true;
} | {
  challenge: string;
};

/** A run that was begun. */
export interface HookBegun {
  runId: string;
}

/** A directive to the agents of a run. */
export interface InjectRequest {
  content: string;
  /** The role or the task it is for; all when absent. */
  target?: string | null;
  /** The importance; NORMAL when absent. One of LOW, NORMAL, HIGH, in any case. */
  priority?: string | null;
  /** The time for which it holds, as in `PT10M`. */
  ttl?: string | null;
  /** The author. Where keys are needed the author is the name of the key, and this counts as `onBehalfOf`. */
  from?: string | null;
  /** The person in whose name it is said. */
  onBehalfOf?: string | null;
}

/** Something that was said to the agents of a run. */
export interface Injected {
  directiveId: string;
  /** A directive that agents are told is active. */
  status: 'ACTIVE';
  /** The fields of the request that were ignored, because they are unknown. */
  warnings?: string[];
}

/** One instance of a task: for an item, in a round, or both. */
export interface Instance {
  /** Its place in the run, as in frames. */
  turnId: string;
  /** The index of its item, from 0. */
  item?: number;
  /** Its round, from 0. */
  round?: number;
  taskDescription: string;
  /** The stage of a task. */
  status: 'PENDING' | 'RUNNING' | 'WAITING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'SKIPPED';
  inherited?: true;
  model?: string;
  startedAt?: string;
  completedAt?: string;
  durationMs?: number;
  tokenCount?: number;
  toolCallCount?: number;
  output?: string;
  /** The output as data, when the task has a schema. */
  parsedOutput?: unknown;
  error?: string;
  /** The cause of the skip. */
  cause?: 'condition' | 'upstream' | 'ended';
  /** The text of a cut answer, where the task failed. */
  partialOutput?: string;
  /** Whether the output was cut at the output limit and accepted as it is. */
  truncated?: boolean;
  subtasks?: Subtask[];
  /** Its reviews, open and decided. */
  reviews?: InstanceReview[];
}

/** A review of an instance. */
export interface InstanceReview {
  reviewId: string;
  /** When a review takes place. */
  timing: 'BEFORE_EXECUTION' | 'DURING_EXECUTION' | 'AFTER_EXECUTION';
  /** The outcome; absent while the review is open. */
  outcome?: string;
}

/** The input of a tool. */
export interface InvokeRequest {
  /** The arguments, as the tool's schema wants them; a text is that object as JSON, or else stands for its only required text. */
  input?: Record<string, unknown> | string | null;
}

/** The answer of a tool. A tool that failed is an answer too. */
export interface Invoked {
  tool: string;
  durationMs: number;
  /** Whether a tool did what it was called for. */
  status: 'SUCCESS' | 'FAILED';
  output?: string;
  /** The output as data. */
  data?: unknown;
  errorMessage?: string;
  /** `TOOL_TIMEOUT` when it took too long. */
  error?: 'TOOL_TIMEOUT';
  /** The fields of the request that were ignored, because they are unknown. */
  warnings?: string[];
}

/** The limits of a run; a limit that is not set is left out. */
export interface Limits {
  maxTotalSubtasks?: number;
  maxTotalLlmCalls?: number;
  maxTotalToolCalls?: number;
  maxWallClockMs?: number;
  maxTotalTokens?: number;
  maxCostUsd?: number;
}

/** A document without its text. */
export interface ListedDocument {
  id: number;
  title: string;
  mediaType: string;
  /** The size of the file that it was. */
  bytes: number;
  createdAt: string;
  /** True where it cannot be read: then only the data of its row is shown. */
  damaged?: boolean;
  /** The reason why it cannot be read. */
  damagedReason?: string;
}

/** A file in the folder of traces. */
export interface ListedFile {
  name: string;
  type: string;
  sizeBytes: number;
}

/** A model. */
export interface ListedModel {
  /** The name to ask it by. */
  id: string;
  object: 'model';
  /** When it was saved, or the server started, in seconds since 1970. */
  created: number;
  owned_by: 'consort';
}

/** A turn of a chat, and what it has used. */
export interface ListedTurn {
  turnId: string;
  threadId: string;
  /** The status of a run. */
  status: 'ACCEPTED' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'REJECTED';
  startedAt: string;
  /** Null until it has ended. */
  durationMs: number | null;
  /** -1 when some model did not report it. */
  totalTokens: number;
  /** Null when a model has no price. */
  totalUsd: number | null;
}

/** A saved workflow in a list. */
export interface ListedWorkflow {
  id: string;
  name: string;
  description: string | null;
  tasks: number;
  version: number;
  createdAt: string;
  updatedAt: string;
  updatedBy: string;
  /** True where it cannot be read: then only the data of its row is shown. */
  damaged?: boolean;
  /** The reason why it cannot be read. */
  damagedReason?: string;
}

/** Whether the server answers. */
export interface Live {
  /** The status of a server that answers. */
  status: 'UP';
}

/** A server whose tools come and go. */
export interface McpServer {
  name: string;
  /** Names of its tools. */
  tools: string[];
  /** The reason why none of them can be called at the moment. */
  unavailable?: string;
}

/** The caller. */
export interface Me {
  /** The name of its key, which its threads belong to; `local` without keys. */
  name: string;
  /** The owner of the runs that it begins. */
  owner: string;
  /** The scopes of its key; all scopes without keys. */
  scopes: ('read' | 'run' | 'review' | 'tools' | 'peer' | 'admin')[];
  /** Whether its scopes extend to the runs of all owners. */
  sees: 'own' | 'all';
}

/** Something that is remembered. */
export interface MemoryEntry {
  key: string;
  text: string;
  createdAt: string;
}

/** The number of uses of memory. */
export interface MemoryOperations {
  shortTermEntriesWritten: number;
  longTermStores: number;
  longTermRetrievals: number;
  entityLookups: number;
}

/** A row of a chat. */
export interface Message {
  /** Its id. */
  id: string;
  /** The role of the author. */
  role: 'user' | 'assistant' | 'tool';
  /** The text. */
  content: string;
  /** The calls it asks for. */
  tool_calls: RowCall[] | null;
  /** The call it answers. */
  tool_call_id: string | null;
  /** Whether a tool failed; in an assistant's row, whether the turn failed: then `content` ends with the reason. */
  is_error: boolean;
  /** The reason why the turn failed, in an assistant's row. */
  error: string | null;
  /** Whether it is an answer that was cut at the output limit; the last one can be continued. */
  truncated: boolean;
  /** The id of the row it goes on with, which was cut. */
  continues: string | null;
  /** The files that the user attached. */
  attachments?: Attached[];
  /** Its turn. */
  turn_id: string;
  /** The calls of the turn. */
  execution_tree: ExecutionTree | null;
  /** When it was stored. */
  created_at: string;
}

/** Everything that was said in a chat. */
export interface Messages {
  messages: Message[];
}

/** The usage of a run. */
export interface Metrics {
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
  costEstimate?: Cost;
  /** Models without a price, when the cost is not known. */
  unpriced?: string[];
}

/** The outcome of searching a turn for facts that are worth remembering. */
export interface Mined {
  turnId: string;
  /** The end of searching a turn for facts. */
  status: 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'SKIPPED';
  /** The reason why nothing could be remembered. */
  reason: string | null;
  /** Facts that are from this turn. */
  facts: number;
  cost: MiningCost;
}

/** The usage of the search for facts, which does not count as usage of the turn. */
export interface MiningCost {
  llmCalls: number;
  inputTokens: number;
  outputTokens: number;
  totalUsd: number | null;
}

/** Something that is wrong with a request. */
export interface Mistake {
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
}

/** A model that agents can ask. */
export interface Model {
  alias: string;
  provider: string;
  contextTokens: number;
  maxOutputTokens: number;
  tools: boolean;
  parallelToolCalls: boolean;
  retries: number;
  fallback: string[];
  price?: Price;
}

/** The models. */
export interface ModelList {
  object: 'list';
  data: ListedModel[];
}

/** Options for the models' answers. An absent one is taken from the next level that has it, in the order task, run, model, provider. A fallback of another provider gets the options that this provider supports. */
export interface ModelOptions {
  /** The temperature; at most 1 for models of Anthropic. */
  temperature?: number | null;
  /** The share of the most likely tokens that are chosen from. */
  topP?: number | null;
  /** The seed. Refused for models of Anthropic and over OpenAI's responses, which have none. */
  seed?: number | null;
  /** The amount of reasoning, for providers that have such an option. One of none, minimal, low, medium, high, xhigh, max, in any case. */
  reasoningEffort?: string | null;
}

/** A request to switch the model of a run. */
export interface ModelRequest {
  /** The alias of the model. */
  model: string;
}

/** This ensemble and the others. */
export interface Network {
  ensemble: string;
  realm: string | null;
  version: string;
  leaseMs: number;
  /** Whether an ensemble accepts work. */
  status: 'available' | 'busy' | 'draining';
  /** The part of its capacity for peers that is taken, from 0 to 1. */
  currentLoad: number;
  /** Its capacity: the number of requests of peers that it works on at the same time. */
  maxConcurrent: number;
  sharedCapabilities: Capability[];
  /** The number of capabilities that are known here. */
  capabilities: number;
  peers: Peer[];
  /** Ensembles that were here and went away, the newest first, at most 100. */
  gone: GonePeer[];
}

/** A node. */
export interface Node {
  /** Its name. */
  name: string;
  /** The address at which it is reached. */
  address: string;
  /** The version of its program. */
  version: string;
  /** The time at which others take over its runs unless it renews its lease; null without a cluster. */
  leaseUntil: string | null;
  /** Whether it is about to stop and begins nothing new. */
  draining: boolean;
  /** The number of its unfinished runs. */
  runs: number;
}

/** The nodes that share a store. */
export interface Nodes {
  nodes: Node[];
}

/** A failure as OpenAI's API tells it. */
export interface OpenAiError {
  error: OpenAiErrorDetail;
}

/** The error. */
export interface OpenAiErrorDetail {
  message: string;
  type: string;
  /** The field that is wrong. */
  param: string | null;
  code: string;
}

/** Settings for the execution of a run. */
export interface Options {
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

/** A change to a configured task. */
export interface Override {
  /** The work to do. */
  description?: string | null;
  /** A description of the output. */
  expectedOutput?: string | null;
  /** Further context for the agent. */
  additionalContext?: string | null;
  /** The alias of the model. */
  model?: string | null;
  /** Options for the models' answers. */
  modelOptions?: ModelOptions | null;
  /** The maximum number of rounds of model calls. */
  maxIterations?: number | string | null;
  /** The treatment of an answer that is cut at the output limit. One of continue, fail, accept, in any case. */
  onTruncated?: string | null;
  /** Changes to its tools. */
  tools?: ToolChanges | null;
}

/** Another ensemble. */
export interface Peer {
  name: string;
  connected: boolean;
  /** Whether the link was opened from here. */
  dialled: boolean;
  /** When the link was opened. */
  since?: string;
  ensemble?: string;
  realm?: string;
  version?: string;
  /** The capabilities that it shares, or shared. */
  sharedCapabilities: Capability[];
  /** The reason why there is no link, or the mistakes in the peer's description of itself. */
  error?: string;
  /** Whether an ensemble accepts work. */
  status?: 'available' | 'busy' | 'draining';
  currentLoad?: number;
  maxConcurrent?: number;
  /** The requests that it has not answered yet, at most 100. */
  requests: PeerRequest[];
}

/** A request to a peer, and the progress that it reported. */
export interface PeerRequest {
  requestId: string;
  capability: string;
  /** As reported by the peer, like the fields below. */
  status?: string;
  message?: string;
  percentComplete?: number;
}

/** A place on the canvas. */
export interface Position {
  /** The distance from the middle to the right. */
  x: number;
  /** The distance from the middle downwards. */
  y: number;
}

/** A configured task. */
export interface PreconfiguredTask {
  description: string;
  tools: string[];
  /** The variables in its texts. */
  variables: string[];
  name?: string;
}

/** Dollars for a million tokens. */
export interface Price {
  input: number;
  output: number;
  cachedInput: number;
}

/** A problem: RFC 9457, with a code for programs. Some codes have further fields. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  /** The code for programs. */
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
  /** The same as `detail`. */
  message: string;
  /** The same as the header `X-Request-Id`. */
  requestId: string;
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
  mistakes?: Mistake[];
  /** The version there is now. */
  version?: number;
  /** The fields of the request that are unknown. */
  warnings?: string[];
}

/** The part of the prompt that was read from a cache. */
export interface PromptDetails {
  cached_tokens: number;
}

/** The requirements of a protected resource, as RFC 9728 describes them. */
export interface ProtectedResource {
  /** The address of the resource. */
  resource: string;
  resource_name: string;
  /** The issuer whose tokens are taken, where single sign-on is configured. */
  authorization_servers?: string[];
  bearer_methods_supported: string[];
  scopes_supported: string[];
}

/** A message that a model is sent. */
export interface Quoted {
  /** The role of the author. */
  role: 'system' | 'user' | 'assistant' | 'tool';
  /** The text. */
  content: string | null;
  /** The calls it asks for. */
  toolCalls: ToolRequest[] | null;
  /** The tool that answers. */
  toolName: string | null;
}

/** A run that may use more. */
export interface Raised {
  runId: string;
  limits: Limits;
  /** The status of a change that is applied. */
  status: 'APPLIED';
  /** The fields of the request that were ignored, because they are unknown. */
  warnings?: string[];
}

/** The run that would be started. */
export interface Rehearsal {
  dryRun: true;
  tasks: RehearsedTask[];
  /** The order of the tasks. */
  workflow: 'SEQUENTIAL' | 'PARALLEL' | 'HIERARCHICAL';
  warnings: string[];
}

/** A task that would run. */
export interface RehearsedTask {
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
}

/** The entries under one name. */
export interface Remembered {
  scope: string;
  /** The kind of entries: texts that tasks store, or critiques of reflections. */
  type: 'memory' | 'reflection';
  entries: MemoryEntry[];
  /** True where it cannot be read: then only the data of its row is shown. */
  damaged?: boolean;
  /** The reason why it cannot be read. */
  damagedReason?: string;
}

/** Something that is remembered about the caller. */
export interface RememberedFact {
  id: string;
  text: string;
  /** The thread in which it was said. */
  threadId: string;
  turnId: string;
  createdAt: string;
  /** True where it cannot be read: then only the data of its row is shown. */
  damaged?: boolean;
  /** The reason why it cannot be read. */
  damagedReason?: string;
}

/** A response. It has every field that OpenAI's has; those without a meaning here are null. */
export interface Response {
  id: string;
  object: 'response';
  /** When it was asked for, in seconds since 1970. */
  created_at: number;
  /** The progress of a response. */
  status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  model: string;
  /** Messages, and what was done in between. */
  output: Record<string, unknown>[];
  previous_response_id: string | null;
  /** The parts of the request that were ignored. */
  warnings?: string[];
}

/** A message, or a list of messages. */
export type ResponseInput = string | Record<string, unknown>[];

/** A response that is asked for; fields of OpenAI's that are not listed change nothing. */
export interface ResponseRequest {
  /** `consort`, or `consort/<name>`. */
  model: string;
  /** The message, or a list of messages of which the last is the user's, with pictures (`input_image`) and files (`input_file`) among their parts. */
  input: ResponseInput;
  instructions?: string | null;
  /** Send the answer as it comes. */
  stream?: boolean | null;
  /** The last response of the conversation to go on with. */
  previous_response_id?: string | null;
  /** The thread to go on with, or a name of your own for one. */
  conversation?: ConversationParam | null;
  /** Inputs of a run. */
  metadata?: Record<string, unknown> | null;
  temperature?: number | null;
  top_p?: number | null;
  reasoning?: Record<string, unknown> | null;
}

/** Something that waits for a person. */
export interface Review {
  /** The id to decide it by. */
  reviewId: string;
  /** The run. */
  runId: string;
  /** The number of the task, from 1. */
  taskIndex: number;
  /** The role of the agent. */
  agentRole: string;
  /** The description of the task, or the question of the agent. */
  taskDescription: string;
  /** The place of the task in the run. */
  turnId: string;
  /** The index of the item that the task is done for, from 0. */
  item?: number;
  /** The round of its group, from 0. */
  round?: number;
  /** The name of the task. */
  taskName: string;
  /** The output that is reviewed; empty before the task. */
  taskOutput: string;
  /** Whether that output was cut at the output limit and accepted as it is. */
  truncated?: boolean;
  /** Before, while or after the task is done. */
  timing: 'BEFORE_EXECUTION' | 'DURING_EXECUTION' | 'AFTER_EXECUTION';
  /** The time for which it waits; 0 means without limit. */
  timeoutMs: number;
  /** The step that follows at `expiresAt`; absent when it waits without limit. */
  onTimeout?: 'CONTINUE' | 'EXIT_EARLY' | 'FAIL';
  /** When it was asked for. */
  createdAt: string;
  /** The time at which it stops waiting; absent when it waits without limit. */
  expiresAt?: string;
  /** The question of an agent. */
  prompt?: string;
  /** Answers to choose from. */
  options?: string[];
}

/** The reviews that wait for a person. */
export interface Reviews {
  total: number;
  reviews: Review[];
}

/** A call that a row asks for. */
export interface RowCall {
  /** The call. */
  id: string;
  /** The tool. */
  name: string;
  /** Its arguments. */
  args: unknown;
}

/** A run in a list. */
export interface Run {
  runId: string;
  ensemble: string;
  /** The id of this execution, which its trace files are named after; in a list absent for runs of earlier versions. */
  ensembleId?: string;
  /** The owner: that of the key that began the run, `local` without keys. */
  owner: string;
  /** The title: the values of its inputs, or else its first task. Rows of earlier versions have none. */
  title?: string;
  /** The beginning of its output, once it has completed. */
  outputPreview?: string;
  /** The status of a run. */
  status: 'ACCEPTED' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'REJECTED';
  /** When it was submitted. */
  startedAt: string;
  /** Null until it has ended. */
  durationMs: number | null;
  /** The time it waited in the queue. */
  queuedMs?: number;
  /** The run it retries. */
  retryOf?: string;
  forkedFrom?: ForkedFrom;
  taskCount: number;
  completedTasks: number;
  /** The order of the tasks. */
  workflow: 'SEQUENTIAL' | 'PARALLEL' | 'HIERARCHICAL';
  /** The model that tasks without one of their own ask. Rows of earlier versions have none. */
  model?: string;
  tags: Record<string, string>;
  paused: boolean;
  cancelRequested: boolean;
  /** -1 when some model did not report it. */
  totalTokens: number;
  /** The first task under way. */
  currentTask?: CurrentTask;
  /** The reason why nothing happens just now. `queue`: it waits for a slot, at first or when it goes on after a review; `queuePosition` is the number of runs that wait before it. */
  waitingFor?: 'queue' | 'resume' | 'model' | 'lock' | 'retry' | 'review' | 'approval' | 'storage';
  /** The same in words, with details: the model with its address, and the message of its provider. */
  waitingReason?: string;
  /** The time since which it waits for that. */
  waitingSince?: string;
  costEstimate?: Cost;
  /** The reason why it failed. */
  error?: string;
  /** Whether an output was cut at the output limit and accepted as it is. */
  truncated?: boolean;
  /** Reviews that wait for a person. */
  openReviews?: string[];
  /** The number of runs before it in the queue, while it waits. */
  queuePosition?: number;
  /** True where it cannot be read: then only the data of its row is shown. */
  damaged?: boolean;
  /** The reason why it cannot be read. */
  damagedReason?: string;
}

/** Everything about a run that fits one answer. */
export interface RunDetail {
  runId: string;
  ensemble: string;
  /** The id of this execution, which its trace files are named after; in a list absent for runs of earlier versions. */
  ensembleId?: string;
  /** The owner: that of the key that began the run, `local` without keys. */
  owner: string;
  /** The title: the values of its inputs, or else its first task. Rows of earlier versions have none. */
  title?: string;
  /** The beginning of its output, once it has completed. */
  outputPreview?: string;
  /** The status of a run. */
  status: 'ACCEPTED' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'REJECTED';
  /** When it was submitted. */
  startedAt: string;
  /** Null until it has ended. */
  durationMs: number | null;
  /** The time it waited in the queue. */
  queuedMs?: number;
  /** The run it retries. */
  retryOf?: string;
  forkedFrom?: ForkedFrom;
  taskCount: number;
  completedTasks: number;
  /** The order of the tasks. */
  workflow: 'SEQUENTIAL' | 'PARALLEL' | 'HIERARCHICAL';
  /** The model that tasks without one of their own ask. Rows of earlier versions have none. */
  model?: string;
  tags: Record<string, string>;
  paused: boolean;
  cancelRequested: boolean;
  /** -1 when some model did not report it. */
  totalTokens: number;
  /** The first task under way. */
  currentTask?: CurrentTask;
  /** The reason why nothing happens just now. `queue`: it waits for a slot, at first or when it goes on after a review; `queuePosition` is the number of runs that wait before it. */
  waitingFor?: 'queue' | 'resume' | 'model' | 'lock' | 'retry' | 'review' | 'approval' | 'storage';
  /** The same in words, with details: the model with its address, and the message of its provider. */
  waitingReason?: string;
  /** The time since which it waits for that. */
  waitingSince?: string;
  costEstimate?: Cost;
  /** The reason why it failed. */
  error?: string;
  /** Whether an output was cut at the output limit and accepted as it is. */
  truncated?: boolean;
  /** Reviews that wait for a person. */
  openReviews?: string[];
  /** The number of runs before it in the queue, while it waits. */
  queuePosition?: number;
  /** True where it cannot be read: then only the data of its row is shown. */
  damaged?: boolean;
  /** The reason why it cannot be read. */
  damagedReason?: string;
  inputs: Record<string, unknown>;
  tasks: Task[];
  /** The number of events. */
  eventCount: number;
  limits: Limits;
  metrics: Metrics;
  pendingReviews: Review[];
  /** The output of the run: that of the task that completed last, in a hierarchy the manager's answer; null unless it completed. `run_result` has the same output. */
  output: string | null;
  /** `output` as data, when its task has a schema. */
  parsedOutput?: unknown;
  completedAt?: string;
  /** The schedule that began the run. */
  schedule?: BegunSchedule;
  /** The hook that began the run. */
  hook?: BegunHook;
  /** Odd things in the request; only in the answer to the request that began the run. */
  warnings?: string[];
}

/** A request for a run; without `tasks`, of the configured ensemble. `null` means absent; unknown fields give `warnings`. */
export interface RunRequest {
  /** Values of template variables, of any type. */
  inputs?: Record<string, unknown> | null;
  /** Labels to find it by. */
  tags?: Record<string, string | number | boolean | null> | null;
  /** The tasks. */
  tasks?: TaskRequest[] | null;
  /** Groups of these tasks, which are skipped, repeated or fanned out together. */
  groups?: GroupRequest[] | null;
  /** Changes to configured tasks, by their names. */
  taskOverrides?: Record<string, Override> | null;
  /** Settings for the execution of the run. */
  options?: Options | null;
  /** Options for the models' answers. */
  modelOptions?: ModelOptions | null;
  /** The ids of files that were uploaded to `/api/attachments`, for every task without its own. */
  attachments?: string[] | null;
  /** Whether to only report what would run. */
  dryRun?: boolean | null;
}

/** A page of runs. */
export interface Runs {
  runs: Run[];
  /** The number of runs that match; with `model`, `minCost`, `waiting` or `paused`, of those that match the rest. With `after`, of those that follow it. */
  total: number;
  /** The `after` of the next page. With `model`, `minCost`, `waiting` or `paused` a page may have fewer runs than its limit, or none, and yet another after it. Absent when there is no more. */
  next?: string;
}

/** An accepted message: its turn has begun, or waits. */
export interface Said {
  threadId: string;
  turnId: string;
  /** The first `chat_seq` of the turn. */
  seq?: number;
  /** The number of messages before it in the queue, while it waits. */
  queuePosition?: number;
  /** The parts of the message that were ignored. */
  warnings?: string[];
}

/** A message. */
export interface Say {
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

/** A schedule. */
export interface Schedule {
  name: string;
  /** Five fields: minute, hour, day of month, month, day of week; null where there is an interval. */
  cron: string | null;
  /** An interval such as `15m`, counted from the epoch; null where there is a pattern. */
  every: string | null;
  /** The time zone of the pattern. */
  timezone: string;
  /** The id or the name of a saved workflow; null: the ensemble. */
  workflow: string | null;
  inputs: Record<string, unknown>;
  /** The treatment of a due time that comes while the previous run is active. */
  overlap: 'skip' | 'queue' | 'cancel_previous';
  /** The due times that are made up for after an outage. */
  catchUp: 'none' | 'one' | 'all';
  /** The age of missed times that are still made up for. */
  window: string;
  /** The longest delay after a due time, different for each. */
  jitter: string;
  /** The owner of its runs. */
  owner: string;
  /** The next due times; while it is paused nothing begins then. */
  next: string[];
  last: ScheduleLast | null;
  paused: boolean;
  /** Those of the configuration cannot be changed over the API. */
  source: 'config' | 'api';
  /** The reasons why its runs could not begin at the moment. */
  warnings?: string[];
  /** True where it cannot be read: then only the data of its row is shown. */
  damaged?: boolean;
  /** The reason why it cannot be read. */
  damagedReason?: string;
}

/** The fields of a schedule. */
export interface ScheduleChanges {
  /** Five fields: minute, hour, day of month, month, day of week. */
  cron?: string | null;
  /** An interval of at least a second, such as `15m`, counted from the epoch. */
  every?: string | null;
  /** The time zone of the pattern; `UTC` by default. */
  timezone?: string | null;
  /** The id or the name of a saved workflow; the ensemble by default. */
  workflow?: string | null;
  inputs?: Record<string, unknown> | null;
  /** The treatment of a due time while the previous run is active; `skip` by default. */
  overlap?: 'skip' | 'queue' | 'cancel_previous' | null;
  /** The times missed within `window` that are made up for; `one` by default. */
  catchUp?: 'none' | 'one' | 'all' | null;
  /** The age of missed times that are still made up for; `1h` by default. */
  window?: string | null;
  /** The longest delay after a due time, different for each; `0s` by default. */
  jitter?: string | null;
}

/** The outcome of the last due time, or of a trigger. */
export interface ScheduleLast {
  /** When that was. */
  at: string;
  /** The due time; null where the start of the server found that its runs cannot begin. */
  due: string | null;
  /** The run that was begun. */
  runId: string | null;
  /** The outcome of a due time. */
  status: 'started' | 'skipped' | 'missed' | 'failed';
  /** The reason why no run was begun. */
  error: string | null;
}

/** A schedule that is to be made: with `cron` or with `every`. */
export interface ScheduleRequest {
  /** 1 to 64 letters, digits, `-`, `_` and `.`. */
  name: string;
  /** Five fields: minute, hour, day of month, month, day of week. */
  cron?: string | null;
  /** An interval of at least a second, such as `15m`, counted from the epoch. */
  every?: string | null;
  /** The time zone of the pattern; `UTC` by default. */
  timezone?: string | null;
  /** The id or the name of a saved workflow; the ensemble by default. */
  workflow?: string | null;
  inputs?: Record<string, unknown> | null;
  /** The treatment of a due time while the previous run is active; `skip` by default. */
  overlap?: 'skip' | 'queue' | 'cancel_previous' | null;
  /** The times missed within `window` that are made up for; `one` by default. */
  catchUp?: 'none' | 'one' | 'all' | null;
  /** The age of missed times that are still made up for; `1h` by default. */
  window?: string | null;
  /** The longest delay after a due time, different for each; `0s` by default. */
  jitter?: string | null;
}

/** All schedules that the caller sees. */
export interface Schedules {
  schedules: Schedule[];
}

/** A name runs remember under. */
export interface Scope {
  scope: string;
  /** The kind of entries: texts that tasks store, or critiques of reflections. */
  type: 'memory' | 'reflection';
  entries: number;
  /** True where it cannot be read: then only the data of its row is shown. */
  damaged?: boolean;
  /** The reason why it cannot be read. */
  damagedReason?: string;
}

/** Names that runs remember under. */
export interface Scopes {
  scopes: Scope[];
  total: number;
}

/** Something that was found. */
export interface SearchResult {
  /** The kind of the match. */
  kind: 'run' | 'thread' | 'workflow' | 'document';
  /** The id of the run, thread or workflow; of a document its collection and number, as `kitchen/1`. */
  id: string;
  title: string;
  /** The words around the first match, in one line. */
  snippet: string;
  at: string;
  /** True where it cannot be read: then only the data of its row is shown. */
  damaged?: boolean;
  /** The reason why it cannot be read. */
  damagedReason?: string;
}

/** Everything that was found. */
export interface SearchResults {
  results: SearchResult[];
}

/** One event of a stream. */
export interface ServerSentEvent {
  /** The frame, or an `error` that ends the stream. */
  data: string;
  /** The frame's type. */
  event?: string;
  /** The event's number; what is not stored has none. */
  id?: string;
}

/** The status of the server. */
export interface Status {
  /** The status of a server that is running. */
  status: 'running';
  clients: number;
  port: number;
  /** The lifecycle of a server. */
  lifecycleState: 'STARTING' | 'READY' | 'DRAINING';
  activeTasks: number;
  queueDepth: number;
  ensemble: string;
  version: string;
  sharedCapabilities: Capability[];
  /** The direct links to the other nodes; what a node without one does is seen half a second later, and without the words of its models. */
  links: 'all' | 'some' | 'none';
}

/** The result of steering a run. */
export interface Steered {
  runId: string;
  /** The new state of a run. */
  status: 'CANCELLING' | 'PAUSED' | 'RESUMED';
  /** The fields of the request that were ignored, because they are unknown. */
  warnings?: string[];
}

/** A turn that was stopped. */
export interface Stopped {
  threadId: string;
  turnId: string;
  /** The status of a turn that was asked to stop. */
  status: 'STOPPING';
  /** The fields of the request that were ignored, because they are unknown. */
  warnings?: string[];
}

/** A subtask under way. */
export interface Subtask {
  id: string;
  title: string;
  depth: number;
  tokenCount: number;
  toolCallCount: number;
}

/** A run that asks another model. */
export interface Switched {
  runId: string;
  model: string;
  previousModel: string | null;
  /** The status of a change that is applied. */
  status: 'APPLIED';
  /** The fields of the request that were ignored, because they are unknown. */
  warnings?: string[];
}

/** A task of a run. */
export interface Task {
  name: string;
  description: string;
  taskDescription: string;
  agentRole: string;
  /** The stage of a task. */
  status: 'PENDING' | 'RUNNING' | 'WAITING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'SKIPPED';
  /** The task ended in the run that this one goes on from: its times and counts are that run's. */
  inherited?: true;
  /** The requester who gave it another output when this run was made of another. */
  outputEditedBy?: string;
  model?: string;
  startedAt?: string;
  completedAt?: string;
  durationMs?: number;
  tokenCount?: number;
  toolCallCount?: number;
  output?: string;
  /** The output as data, when the task has a schema. */
  parsedOutput?: unknown;
  error?: string;
  /** The cause of the skip. */
  cause?: 'condition' | 'upstream' | 'ended';
  /** The text of a cut answer, where the task failed. */
  partialOutput?: string;
  /** Whether the output was cut at the output limit and accepted as it is. */
  truncated?: boolean;
  subtasks?: Subtask[];
  /** The group it is in. */
  group?: string;
  /** The instances of a task that is done for each item or in rounds. */
  instances?: Instance[];
}

/** A task a request brings. */
export interface TaskRequest {
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
  agent?: AgentRequest | null;
  /** Further context for the agent. */
  additionalContext?: string | null;
  /** The alias of the model. */
  model?: string | null;
  /** Options for the models' answers. */
  modelOptions?: ModelOptions | null;
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
}

/** A conversation of a run. */
export interface TaskTrace {
  taskDescription: string;
  expectedOutput: string;
  agentRole: string;
  startedAt: string;
  completedAt: string | null;
  duration: string;
  prompts: TracePrompts | null;
  llmInteractions: TraceRound[];
  delegations: TraceDelegation[];
  finalOutput: string | null;
  parsedOutput: unknown;
  metrics: TraceMetrics;
  metadata: TaskTraceMetadata;
  /** It was taken from the run that this one goes on from. */
  inherited?: true;
  /** The requester who gave it another output when this run was made of another. */
  outputEditedBy?: string;
}

/** The task of a conversation. */
export interface TaskTraceMetadata {
  taskName: string;
  turnId: string;
  /** The calls that the run makes itself. */
  chores: TraceCall[];
}

/** A chat. */
export interface Thread {
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
  memory: ThreadMemory;
  /** The permission mode of its turns, where a message has none and it was changed. */
  permissionMode: 'plan' | 'default' | 'auto' | null;
  /** The chat that it branches off from, where it does. */
  branchOf?: Branch;
  /** True where it cannot be read: then only the data of its row is shown. */
  damaged?: boolean;
  /** The reason why it cannot be read. */
  damagedReason?: string;
  /** The fields of the request that were ignored, because they are unknown. */
  warnings?: string[];
}

/** Changes to a chat. */
export type ThreadChange = {
  title?: string | null;
  permission_mode?: 'plan' | 'default' | 'auto' | null;
};

/** The search for facts in turns whose messages asked for it with `memory_enabled`. */
export interface ThreadMemory {
  /** The turns that are still to be searched for facts. */
  pending: string[];
  last: Mined | null;
}

/** A chat that is to begin. */
export interface ThreadRequest {
  title?: string | null;
  /** Begins it with what was said in another chat, which stays as it is. */
  branch_of?: BranchRequest | null;
}

/** The chats of a client. */
export interface Threads {
  total: number;
  threads: Thread[];
}

/** A tool that agents can be given. */
export interface Tool {
  name: string;
  description: string;
  /** Permission classes. */
  permission: 'safe' | 'knowledge' | 'network' | 'workspace_write' | 'editor_mutate' | 'subagent' | 'secrets' | 'execute';
  /** The effect of making a call twice; it decides what happens to a call whose owner died. */
  effect: 'read' | 'idempotent' | 'once';
  /** A JSON Schema. */
  inputSchema: unknown;
  /** Whether it may be called directly. */
  direct: boolean;
  /** The reason why it cannot be called at the moment. */
  unavailable?: string;
}

/** Changes to the tools of a task. */
export interface ToolChanges {
  /** Tools it gets. */
  add?: string[] | null;
  /** Tools it loses. */
  remove?: string[] | null;
}

/** A call that a model asks for. */
export interface ToolRequest {
  /** The tool. */
  name: string;
  /** The arguments, as the model wrote them. */
  arguments: string;
}

/** A run as it is exported for reading. */
export interface Trace {
  schemaVersion: string;
  /** The content of an exported trace. */
  captureMode: 'OFF' | 'STANDARD' | 'FULL';
  ensembleId: string;
  /** The order of the tasks. */
  workflow: 'SEQUENTIAL' | 'PARALLEL' | 'HIERARCHICAL';
  startedAt: string;
  completedAt: string | null;
  totalDuration: string;
  inputs: Record<string, unknown>;
  agents: TracedAgent[];
  taskTraces: TaskTrace[];
  metrics: TraceMetrics;
  totalCostEstimate: TraceCost | null;
  errors: TraceError[];
  mapReduceLevels: unknown[];
  metadata: TraceMetadata;
}

/** A call of a tool. */
export interface TraceCall {
  toolName: string;
  arguments: string;
  result: string;
  structuredOutput: unknown;
  startedAt: string;
  completedAt: string;
  duration: string;
  /** The end of a call; an error where nobody knows whether it worked. */
  outcome: 'SUCCESS' | 'FAILURE' | 'ERROR';
  parsedInput: unknown;
  metadata: Record<string, unknown>;
  /** It was taken from the run that this one goes on from. */
  inherited?: true;
}

/** The cost. */
export interface TraceCost {
  inputCost: number;
  outputCost: number;
  totalCost: number;
  currency: string;
}

/** Work that one agent handed to another. */
export interface TraceDelegation {
  delegatorRole: string;
  workerRole: string;
  taskDescription: string;
  startedAt: string;
  completedAt: string | null;
  duration: string;
  depth: number;
  result: string | null;
  succeeded: boolean;
  workerTrace: TaskTrace | null;
}

/** Something that went wrong. */
export interface TraceError {
  taskDescription: string | null;
  agentRole: string | null;
  turnId: string;
  message: string;
  at: string;
  /** It was taken from the run that this one goes on from. */
  inherited?: true;
}

/** The run of a trace. */
export interface TraceMetadata {
  ensemble: string;
  /** The status of a run. */
  status: 'ACCEPTED' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'REJECTED';
  error: string | null;
  exitReason: string | null;
  tags: Record<string, string>;
}

/** The usage of a run or a conversation. */
export interface TraceMetrics {
  /** -1 when some model did not report it. */
  inputTokens: number;
  /** -1 when some model did not report it. */
  outputTokens: number;
  /** -1 when some model did not report it. */
  totalTokens: number;
  llmLatency: string;
  toolExecutionTime: string;
  memoryRetrievalTime: string;
  promptBuildTime: string;
  llmCallCount: number;
  toolCallCount: number;
  delegationCount: number;
  costEstimate: TraceCost | null;
  memoryOperations: MemoryOperations;
}

/** The beginning of a conversation. */
export interface TracePrompts {
  systemPrompt: string;
  userPrompt: string;
}

/** A question to a model that was answered. */
export interface TraceRound {
  iterationIndex: number;
  startedAt: string;
  completedAt: string;
  latency: string;
  /** -1 when the model did not report it. */
  inputTokens: number;
  /** -1 when the model did not report it. */
  outputTokens: number;
  /** The kind of a model's answer. */
  responseType: 'FINAL_ANSWER' | 'TOOL_CALLS';
  responseText: string;
  toolCalls: TraceCall[];
  messages: Quoted[];
  /** It was taken from the run that this one goes on from. */
  inherited?: true;
}

/** The agent of a task. */
export interface TracedAgent {
  role: string;
  goal: string;
  background: string;
  toolNames: string[];
  allowDelegation: boolean;
}

/** A call of a turn. */
export interface TreeNode {
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
}

/** A run that was begun. */
export interface Triggered {
  runId: string;
  /** The fields of the request that were ignored, because they are unknown. */
  warnings?: string[];
}

/** A page of turns. */
export interface Turns {
  turns: ListedTurn[];
  total: number;
}

/** A page of the versions of a workflow. */
export interface Versions {
  versions: WorkflowVersion[];
  total: number;
}

/** A program that is notified of runs. */
export interface Webhook {
  name: string;
  /** Without its user and its query, which may be secrets. */
  url: string;
  events: ('run.completed' | 'run.failed' | 'run.cancelled' | 'review.requested' | 'approval.requested')[];
  /** Only runs with all of these. */
  tags: Record<string, string>;
  /** Only runs of this owner; null: of all. */
  owner: string | null;
  /** The number of messages that wait to be sent, or to be sent again. */
  pending: number;
}

/** The programs that are told of runs. */
export interface Webhooks {
  webhooks: Webhook[];
}

/** A version of a saved workflow. */
export interface Workflow {
  id: string;
  version: number;
  createdAt: string;
  updatedAt: string;
  updatedBy: string;
  /** The name. */
  name: string;
  /** The purpose. */
  description?: string;
  /** The tasks as they were sent, each with its place on the canvas. */
  tasks: WorkflowTask[];
  /** Groups of its tasks, as they were sent. */
  groups?: GroupRequest[];
  /** Defaults for template variables. */
  inputs?: Record<string, unknown>;
  /** Options of its runs, as they were sent. */
  options?: Options;
  /** The options for the models' answers in its runs, as they were sent. */
  modelOptions?: ModelOptions;
  warnings?: string[];
}

/** A task graph as people draw it; what was shown may be sent back. */
export interface WorkflowDocument {
  /** The name. */
  name: string;
  /** Its tasks. */
  tasks: WorkflowTask[];
  /** Groups of its tasks. */
  groups?: GroupRequest[] | null;
  /** The purpose. */
  description?: string | null;
  /** Defaults for template variables, of any type. */
  inputs?: Record<string, unknown> | null;
  /** Settings for the execution of its runs. */
  options?: Options | null;
  /** Options for the models' answers in its runs. */
  modelOptions?: ModelOptions | null;
}

/** A request for a run of a workflow. */
export interface WorkflowRun {
  /** Values of template variables, of any type. */
  inputs?: Record<string, unknown> | null;
  /** Labels to find it by. */
  tags?: Record<string, string | number | boolean | null> | null;
  /** Settings for the execution of the run. */
  options?: Options | null;
  /** Options for the models' answers. */
  modelOptions?: ModelOptions | null;
  /** Whether to only report what would run. */
  dryRun?: boolean | null;
}

/** A task, and where it stands on the canvas. */
export interface WorkflowTask {
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
  agent?: AgentRequest | null;
  /** Further context for the agent. */
  additionalContext?: string | null;
  /** The alias of the model. */
  model?: string | null;
  /** Options for the models' answers. */
  modelOptions?: ModelOptions | null;
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
  /** Its place on the canvas. */
  position?: Position | null;
}

/** A version in the history of a workflow. */
export interface WorkflowVersion {
  version: number;
  savedAt: string;
  savedBy: string;
  name: string;
  description: string | null;
  tasks: number;
  /** True where it cannot be read: then only the data of its row is shown. */
  damaged?: boolean;
  /** The reason why it cannot be read. */
  damagedReason?: string;
}

/** A page of saved workflows. */
export interface Workflows {
  workflows: ListedWorkflow[];
  total: number;
}

/** A file or a folder of the workspace. */
export interface WorkspaceItem {
  name: string;
  /** The type of an item of a folder. */
  type: 'file' | 'directory';
  size?: number;
  lastModified?: string;
}

/** The body and the answer of each request, as JSON. */
export interface Requests {
  /** List runs, the newest first */
  'GET /api/runs': {
    answer: Runs;
  };
  /** Start a run */
  'POST /api/runs': {
    body: RunRequest;
    answer: RunDetail | Rehearsal | Accepted;
  };
  /** Read a run */
  'GET /api/runs/{id}': {
    answer: RunDetail;
  };
  /** Erase an ended run, cancel any other */
  'DELETE /api/runs/{id}': {
    answer: Steered;
  };
  /** Stop a run */
  'POST /api/runs/{id}/cancel': {
    body: CancelRequest;
    answer: Steered;
  };
  /** Pause a run */
  'POST /api/runs/{id}/pause': {
    answer: Steered;
  };
  /** Resume a run */
  'POST /api/runs/{id}/resume': {
    answer: Steered;
  };
  /** Switch the model of a run */
  'POST /api/runs/{id}/model': {
    body: ModelRequest;
    answer: Switched;
  };
  /** Give up the model calls under way */
  'POST /api/runs/{id}/give-up': {
    body: GiveUpRequest;
    answer: GivenUp;
  };
  /** Tell the agents of a run something */
  'POST /api/runs/{id}/inject': {
    body: InjectRequest;
    answer: Injected;
  };
  /** Raise the budget of a run */
  'POST /api/runs/{id}/budget': {
    body: BudgetRequest;
    answer: Raised;
  };
  /** Retry a run */
  'POST /api/runs/{id}/retry': {
    body: Edits;
    answer: RunDetail | Rehearsal | Accepted;
  };
  /** Fork a run */
  'POST /api/runs/{id}/fork': {
    body: Edits;
    answer: RunDetail | Rehearsal | Accepted;
  };
  /** Read a run's events, as a stream or by page */
  'GET /api/runs/{id}/events': {
    answer: Frames;
  };
  /** List the reviews that wait for a decision */
  'GET /api/reviews': {
    answer: Reviews;
  };
  /** Decide a review */
  'POST /api/reviews/{id}': {
    body: DecisionRequest;
    answer: Decided;
  };
  /** List the tool calls that wait for permission */
  'GET /api/approvals': {
    answer: Approvals;
  };
  /** Allow or deny a tool call */
  'POST /api/approvals/{id}': {
    body: ApprovalRequest;
    answer: Answered;
  };
  /** List chats, the newest first */
  'GET /api/threads': {
    answer: Threads;
  };
  /** Begin a chat */
  'POST /api/threads': {
    body: ThreadRequest;
    answer: Thread;
  };
  /** Read a chat */
  'GET /api/threads/{id}': {
    answer: Thread;
  };
  /** Rename a chat, or change its permission mode */
  'PATCH /api/threads/{id}': {
    body: ThreadChange;
    answer: Thread;
  };
  /** Erase a chat */
  'DELETE /api/threads/{id}': {
    answer: unknown;
  };
  /** List the messages of a chat */
  'GET /api/threads/{id}/messages': {
    answer: Messages;
  };
  /** Send a message */
  'POST /api/threads/{id}/messages': {
    body: Say;
    answer: Said;
  };
  /** Read a chat's events, as a stream or by page */
  'GET /api/threads/{id}/events': {
    answer: Frames;
  };
  /** Continue an answer that was cut */
  'POST /api/threads/{id}/continue': {
    answer: Said;
  };
  /** Stop the turn under way */
  'POST /api/threads/{id}/stop': {
    answer: Stopped;
  };
  /** Export a chat as Markdown */
  'GET /api/threads/{id}/export': {
    answer: unknown;
  };
  /** List the permissions given for a chat */
  'GET /api/threads/{id}/grants': {
    answer: Grants;
  };
  /** Revoke a permission given for a chat */
  'DELETE /api/threads/{id}/grants/{grant}': {
    answer: unknown;
  };
  /** List turns and their usage */
  'GET /api/turns': {
    answer: Turns;
  };
  /** Upload a file for messages and runs */
  'POST /api/attachments': {
    body: string;
    answer: Attachment;
  };
  /** Download an attachment */
  'GET /api/attachments/{id}': {
    answer: string;
  };
  /** Erase an attachment that nothing uses */
  'DELETE /api/attachments/{id}': {
    answer: unknown;
  };
  /** List the models of OpenAI's API */
  'GET /v1/models': {
    answer: ModelList;
  };
  /** Create a chat completion, as OpenAI does */
  'POST /v1/chat/completions': {
    body: CompletionRequest;
    answer: ChatCompletion;
  };
  /** Create a response, as OpenAI does */
  'POST /v1/responses': {
    body: ResponseRequest;
    answer: Response;
  };
  /** Speak the Model Context Protocol */
  'POST /mcp': {
    body: Record<string, unknown>;
    answer: Record<string, unknown>;
  };
  /** Get the OAuth metadata of /mcp */
  'GET /.well-known/oauth-protected-resource': {
    answer: ProtectedResource;
  };
  /** Get the OAuth metadata of /mcp, at the path of the resource */
  'GET /.well-known/oauth-protected-resource/mcp': {
    answer: ProtectedResource;
  };
  /** Get the agent card */
  'GET /.well-known/agent-card.json': {
    answer: Record<string, unknown>;
  };
  /** Speak the A2A protocol (JSON-RPC) */
  'POST /a2a': {
    body: Record<string, unknown>;
    answer: Record<string, unknown>;
  };
  /** Send a message */
  'POST /a2a/v1/message:send': {
    body: Record<string, unknown>;
    answer: Record<string, unknown>;
  };
  /** Send a message and stream its task */
  'POST /a2a/v1/message:stream': {
    body: Record<string, unknown>;
    answer: unknown;
  };
  /** List the caller's tasks */
  'GET /a2a/v1/tasks': {
    answer: Record<string, unknown>;
  };
  /** Get a task, or stream it (`:subscribe` after its id) */
  'GET /a2a/v1/tasks/{id}': {
    answer: Record<string, unknown>;
  };
  /** Cancel a task (`:cancel` after its id), or stream it (`:subscribe`) */
  'POST /a2a/v1/tasks/{id}': {
    body: Record<string, unknown>;
    answer: Record<string, unknown>;
  };
  /** Add an address that is notified about a task */
  'POST /a2a/v1/tasks/{id}/pushNotificationConfigs': {
    body: Record<string, unknown>;
    answer: Record<string, unknown>;
  };
  /** List the addresses that are notified about a task */
  'GET /a2a/v1/tasks/{id}/pushNotificationConfigs': {
    answer: Record<string, unknown>;
  };
  /** Get an address that is notified about a task */
  'GET /a2a/v1/tasks/{id}/pushNotificationConfigs/{config}': {
    answer: Record<string, unknown>;
  };
  /** Delete an address that is notified about a task */
  'DELETE /a2a/v1/tasks/{id}/pushNotificationConfigs/{config}': {
    answer: Record<string, unknown>;
  };
  /** Get the agent card for this caller */
  'GET /a2a/v1/extendedAgentCard': {
    answer: Record<string, unknown>;
  };
  /** List collections */
  'GET /api/collections': {
    answer: Collections;
  };
  /** Create a collection */
  'POST /api/collections': {
    body: CollectionRequest;
    answer: Collection;
  };
  /** Read a collection */
  'GET /api/collections/{name}': {
    answer: Collection;
  };
  /** Erase a collection with its documents */
  'DELETE /api/collections/{name}': {
    answer: unknown;
  };
  /** Search the passages of a collection */
  'GET /api/collections/{name}/search': {
    answer: Hits;
  };
  /** List the documents of a collection */
  'GET /api/collections/{name}/documents': {
    answer: Documents;
  };
  /** Add a document */
  'POST /api/collections/{name}/documents': {
    body: DocumentRequest;
    answer: AddedDocument;
  };
  /** Read a document with its text */
  'GET /api/collections/{name}/documents/{id}': {
    answer: Document;
  };
  /** Replace a document */
  'PUT /api/collections/{name}/documents/{id}': {
    body: DocumentRequest;
    answer: AddedDocument;
  };
  /** Erase a document */
  'DELETE /api/collections/{name}/documents/{id}': {
    answer: unknown;
  };
  /** Call a tool directly */
  'POST /api/tools/{name}/invoke': {
    body: InvokeRequest;
    answer: Invoked;
  };
  /** List the models, tools and limits there are */
  'GET /api/capabilities': {
    answer: Capabilities;
  };
  /** List the other ensembles, and what they share */
  'GET /api/network': {
    answer: Network;
  };
  /** List the facts about the caller */
  'GET /api/facts': {
    answer: Facts;
  };
  /** Erase all facts about the caller */
  'DELETE /api/facts': {
    answer: Forgotten;
  };
  /** Erase one fact */
  'DELETE /api/facts/{id}': {
    answer: unknown;
  };
  /** Read the caller's name and scopes */
  'GET /api/me': {
    answer: Me;
  };
  /** List the memories of runs */
  'GET /api/memory': {
    answer: Scopes;
  };
  /** List the entries of a memory */
  'GET /api/memory/{scope}': {
    answer: Remembered;
  };
  /** Erase a memory */
  'DELETE /api/memory/{scope}': {
    answer: unknown;
  };
  /** Erase one entry of a memory */
  'DELETE /api/memory/{scope}/{key}': {
    answer: unknown;
  };
  /** Export the trace of a run */
  'GET /api/runs/{id}/trace': {
    answer: Trace;
  };
  /** List the trace files of ended runs */
  'GET /api/files': {
    answer: Files;
  };
  /** Download a trace file */
  'GET /api/file': {
    answer: unknown;
  };
  /** List the files of the workspace */
  'GET /api/workspace/files': {
    answer: WorkspaceItem[];
  };
  /** Download a file of the workspace */
  'GET /api/workspace/file': {
    answer: unknown;
  };
  /** Search runs, chats, workflows and documents */
  'GET /api/search': {
    answer: SearchResults;
  };
  /** Read the state of the server */
  'GET /api/status': {
    answer: Status;
  };
  /** Check that the server answers */
  'GET /api/health/live': {
    answer: Live;
  };
  /** Check that the server accepts work */
  'GET /api/health/ready': {
    answer: Health;
  };
  /** Check that the server has started */
  'GET /api/health/startup': {
    answer: Health;
  };
  /** Finish active runs, accept nothing new, and stop */
  'POST /api/lifecycle/drain': {
    answer: Drained;
  };
  /** Remove deleted data from the disk */
  'POST /api/admin/compact': {
    answer: Compacted;
  };
  /** List the nodes of the cluster */
  'GET /api/cluster': {
    answer: Nodes;
  };
  /** Read metrics, for Prometheus */
  'GET /metrics': {
    answer: unknown;
  };
  /** Get this description */
  'GET /openapi.json': {
    answer: Record<string, unknown>;
  };
  /** Read the schema of every frame */
  'GET /schemas/frames.json': {
    answer: Record<string, unknown>;
  };
  /** Open a WebSocket for all events and requests */
  'GET /ws': {
    answer: unknown;
  };
  /** Open the link of another node that shares this server's store */
  'GET /cluster/link': {
    answer: unknown;
  };
  /** List saved workflows */
  'GET /api/workflows': {
    answer: Workflows;
  };
  /** Save a new workflow */
  'POST /api/workflows': {
    body: WorkflowDocument;
    answer: Workflow;
  };
  /** Read the newest version of a workflow */
  'GET /api/workflows/{id}': {
    answer: Workflow;
  };
  /** Save a new version of a workflow */
  'PUT /api/workflows/{id}': {
    body: WorkflowDocument;
    answer: Workflow;
  };
  /** Erase a workflow */
  'DELETE /api/workflows/{id}': {
    answer: unknown;
  };
  /** List the versions of a workflow */
  'GET /api/workflows/{id}/history': {
    answer: Versions;
  };
  /** Read one version of a workflow */
  'GET /api/workflows/{id}/versions/{version}': {
    answer: Workflow;
  };
  /** Run a workflow */
  'POST /api/workflows/{id}/runs': {
    body: WorkflowRun;
    answer: RunDetail | Rehearsal | Accepted;
  };
  /** List schedules */
  'GET /api/schedules': {
    answer: Schedules;
  };
  /** Create a schedule */
  'POST /api/schedules': {
    body: ScheduleRequest;
    answer: Schedule;
  };
  /** Read a schedule */
  'GET /api/schedules/{name}': {
    answer: Schedule;
  };
  /** Change a schedule */
  'PATCH /api/schedules/{name}': {
    body: ScheduleChanges;
    answer: Schedule;
  };
  /** Erase a schedule */
  'DELETE /api/schedules/{name}': {
    answer: unknown;
  };
  /** Pause a schedule */
  'POST /api/schedules/{name}/pause': {
    answer: Schedule;
  };
  /** Resume a schedule */
  'POST /api/schedules/{name}/resume': {
    answer: Schedule;
  };
  /** Start a run of a schedule now */
  'POST /api/schedules/{name}/trigger': {
    answer: Triggered;
  };
  /** List webhooks */
  'GET /api/webhooks': {
    answer: Webhooks;
  };
  /** List the deliveries of a webhook */
  'GET /api/webhooks/{name}/deliveries': {
    answer: Deliveries;
  };
  /** Send a delivery again, with the same id and body */
  'POST /api/deliveries/{id}/redeliver': {
    answer: Delivery;
  };
  /** Start a run through a configured hook */
  'POST /hooks/{name}': {
    body: unknown;
    answer: HookAnswer | HookBegun;
  };
}
