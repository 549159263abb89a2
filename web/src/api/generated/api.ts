// Made from openapi.json by `npm run types`.

import type * as frames from './frames';

/** A run that was taken. */
export interface Accepted {
  runId: string;
  /** A run that was taken is accepted. */
  status: 'ACCEPTED';
  tasks: number;
  /** In which order tasks run. */
  workflow: 'SEQUENTIAL' | 'PARALLEL' | 'HIERARCHICAL';
  warnings?: string[];
  /** The run it retries. */
  retryOf?: string;
  forkedFrom?: ForkedFrom;
  /** How many go before it, while it waits. */
  queuePosition?: number;
}

/** A document that was added. */
export interface AddedDocument {
  id: number;
  collection: string;
  title: string;
  /** Whether it is found by its meaning too. False without `[chat] embeddings`, and while that model does not answer: it is asked again later. */
  embedded: boolean;
}

/** The agent of a task. */
export interface AgentRequest {
  /** What it is. */
  role: string;
  /** What it wants; the description when absent. */
  goal?: string | null;
  /** What it has done before. */
  background?: string | null;
  /** Whether it may hand work to the agents of other tasks. */
  allowDelegation?: boolean | null;
}

/** A call that was answered. */
export interface Answered {
  approval_id: string;
  decision: 'allow' | 'allow_for_chat' | 'deny';
  /** Something that holds from now on. */
  status: 'APPLIED';
}

/** A call of a chat that waits for a person. */
export interface Approval {
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
  /** Its thread. */
  thread_id: string;
  /** Its turn. */
  turn_id: string;
}

/** What a person says about a call. */
export interface ApprovalRequest {
  /** One of allow, allow_for_chat, deny, in any case. */
  decision: string;
}

/** The calls of a client's chats that wait for a person. */
export interface Approvals {
  total: number;
  approvals: Approval[];
}

/** How a run is to stop. */
export interface CancelRequest {
  /** How soon; after_task when absent. One of after_task, after_iteration, now, in any case. */
  mode?: string | null;
}

/** What a request can choose from. */
export interface Capabilities {
  tools: Tool[];
  models: Model[];
  preconfiguredTasks: PreconfiguredTask[];
  /** Values template variables have unless others are sent. */
  inputs: Record<string, string>;
  sharedTasks: Capability[];
  sharedTools: Capability[];
  /** Servers whose tools come and go. */
  mcpServers: McpServer[];
}

/** Something others may use. */
export interface Capability {
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
}

/** Documents to be searched. */
export interface Collection {
  name: string;
  documents: number;
  createdAt: string;
  updatedAt: string;
  /** True where it cannot be read: then only its row is told. */
  damaged?: boolean;
  /** Why it cannot be read. */
  damagedReason?: string;
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
  /** The only way it ends well. */
  status: 'COMPACTED';
}

/** Money, in dollars. */
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
  /** Something that holds from now on. */
  status: 'APPLIED';
}

/** What a person says about an output. */
export interface DecisionRequest {
  /** APPROVE is CONTINUE. One of CONTINUE, APPROVE, EDIT, EXIT_EARLY, REJECT, in any case. */
  decision: string;
  /** Needed by EDIT. */
  revisedOutput?: string | null;
  /** Needed by REJECT. */
  feedback?: string | null;
}

/** A document that is to be added. */
export interface DocumentRequest {
  title: string;
  content: string;
}

/** A server that is about to stop. */
export interface Drained {
  /** A server that was told to stop drains. */
  status: 'DRAINING';
}

/** Changes a new run begins with. */
export interface Edits {
  /** The first event that is not taken over; everything when absent. For forks. */
  seq?: number | null;
  /** Instead of `seq`: what stands before this task began is taken over. For forks. */
  task?: string | null;
  /** Values of template variables. */
  inputs?: Record<string, string | number | boolean | null> | null;
  /** Labels to find it by. */
  tags?: Record<string, string | number | boolean | null> | null;
  /** The alias of the model to ask. */
  model?: string | null;
  /** Changes to tasks that have not begun, by their names. */
  taskOverrides?: Record<string, Override> | null;
  /** How it is carried out. */
  options?: Options | null;
  /** How models answer. */
  modelOptions?: ModelOptions | null;
}

/** The calls of a turn. */
export interface ExecutionTree {
  /** The version of this shape. */
  version: number;
  /** The calls, in the order they were asked for. */
  nodes: TreeNode[];
}

/** What is remembered about the caller. */
export interface Facts {
  facts: RememberedFact[];
  total: number;
}

/** The files in the folder of traces. */
export interface Files {
  files: ListedFile[];
  directory: string;
}

/** What was forgotten. */
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
}

/** An ensemble that went away. */
export interface GonePeer {
  name: string;
  /** When it went away. */
  at: string;
  ensemble?: string;
  realm?: string;
  version?: string;
  /** What it shares, or shared. */
  sharedCapabilities: Capability[];
}

/** What was allowed for the rest of a chat. */
export interface Grant {
  /** The id to take it back by. */
  id: string;
  /** The tool that may be called. */
  tool: string;
  /** The host, MCP server or peer that it may send to; null when it sends nothing. */
  host: string | null;
  /** When it was allowed. */
  grantedAt: string;
}

/** What was allowed for the rest of a conversation. */
export interface Grants {
  grants: Grant[];
}

/** Whether the server takes work. */
export interface Health {
  /** What a probe is told. */
  status: 'STARTED' | 'NOT_STARTED' | 'READY' | 'NOT_READY';
  /** Where a server stands. */
  lifecycleState: 'STARTING' | 'READY' | 'DRAINING';
  /** Why it takes no work although it has started: nothing can be stored. */
  reason?: string;
}

/** A passage that was found. */
export interface Hit {
  collection: string;
  documentId: number;
  title: string;
  snippet: string;
  score: number;
}

/** Passages that were found. */
export interface Hits {
  results: Hit[];
}

/** Something that is said to the agents of a run. */
export interface InjectRequest {
  content: string;
  /** A role or a task; everybody when absent. */
  target?: string | null;
  /** How important it is; NORMAL when absent. One of LOW, NORMAL, HIGH, in any case. */
  priority?: string | null;
  /** How long it matters, as in `PT10M`. */
  ttl?: string | null;
  /** Who says it; where keys are needed the key's name is, and this is `onBehalfOf`. */
  from?: string | null;
  /** In whose name it is said. */
  onBehalfOf?: string | null;
}

/** Something that was said to the agents of a run. */
export interface Injected {
  directiveId: string;
  /** A directive that agents are told is active. */
  status: 'ACTIVE';
}

/** What a tool is called with. */
export interface InvokeRequest {
  /** The arguments, as the tool's schema wants them; a text is that object as JSON, or else stands for its only required text. */
  input?: Record<string, unknown> | string | null;
}

/** What a tool answered. A tool that failed is an answer too. */
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
}

/** What it may use; what has no limit is left out. */
export interface Limits {
  maxTotalSubtasks?: number;
  maxTotalLlmCalls?: number;
  maxTotalToolCalls?: number;
  maxWallClockMs?: number;
  maxTotalTokens?: number;
  maxCostUsd?: number;
}

/** A file in the folder of traces. */
export interface ListedFile {
  name: string;
  type: string;
  sizeBytes: number;
}

/** A turn of a conversation, and what it has used. */
export interface ListedTurn {
  turnId: string;
  threadId: string;
  /** The status of a run. */
  status: 'ACCEPTED' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'REJECTED';
  startedAt: string;
  /** Null until it has ended. */
  durationMs: number | null;
  /** -1 when some model did not say. */
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
  /** True where it cannot be read: then only its row is told. */
  damaged?: boolean;
  /** Why it cannot be read. */
  damagedReason?: string;
}

/** Whether the server answers. */
export interface Live {
  /** A server that answers is up. */
  status: 'UP';
}

/** A server whose tools come and go. */
export interface McpServer {
  name: string;
  /** Names of its tools. */
  tools: string[];
  /** Why none of them can be called at the moment. */
  unavailable?: string;
}

/** The caller. */
export interface Me {
  /** The name of its key, which its threads belong to; `local` without keys. */
  name: string;
  /** The owner of the runs that it begins. */
  owner: string;
  /** What its key allows; everything without keys. */
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

/** How often memory was used. */
export interface MemoryOperations {
  shortTermEntriesWritten: number;
  longTermStores: number;
  longTermRetrievals: number;
  entityLookups: number;
}

/** A row of a conversation. */
export interface Message {
  /** Its id. */
  id: string;
  /** Who said it. */
  role: 'user' | 'assistant' | 'tool';
  /** What was said. */
  content: string;
  /** The calls it asks for. */
  tool_calls: RowCall[] | null;
  /** The call it answers. */
  tool_call_id: string | null;
  /** A tool failed; of an assistant's row, the turn failed and `content` ends with why. */
  is_error: boolean;
  /** Why the turn failed, in an assistant's row. */
  error: string | null;
  /** An answer that was cut at the output limit; the last one can be continued. */
  truncated: boolean;
  /** The id of the row it goes on with, which was cut. */
  continues: string | null;
  /** Its turn. */
  turn_id: string;
  /** The calls of the turn. */
  execution_tree: ExecutionTree | null;
  /** When it was stored. */
  created_at: string;
}

/** Everything that was said in a conversation. */
export interface Messages {
  messages: Message[];
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
  costEstimate?: Cost;
  /** Models without a price, when the cost is not known. */
  unpriced?: string[];
}

/** What came of looking through a turn for what is worth remembering. */
export interface Mined {
  turnId: string;
  /** The end of looking through a turn. */
  status: 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'SKIPPED';
  /** Why nothing could be remembered. */
  reason: string | null;
  /** Facts that are from this turn. */
  facts: number;
  cost: MiningCost;
}

/** What it took, beside what the turn took. */
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

/** How models answer; absent: as the next says it, in the order task, run, model, provider. A fallback of another provider is asked with what it has words for. */
export interface ModelOptions {
  /** For models of Anthropic at most 1. */
  temperature?: number | null;
  /** The share of likely words that are chosen from. */
  topP?: number | null;
  /** Refused for models of Anthropic and over OpenAI's responses, which have none. */
  seed?: number | null;
  /** How long a model thinks, as far as the provider has it. One of none, minimal, low, medium, high, xhigh, max, in any case. */
  reasoningEffort?: string | null;
}

/** Which model a run is to ask. */
export interface ModelRequest {
  /** An alias. */
  model: string;
}

/** This ensemble and the others. */
export interface Network {
  ensemble: string;
  realm: string | null;
  version: string;
  leaseMs: number;
  /** Whether an ensemble takes work on. */
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
  gone: GonePeer[];
}

/** How a run is carried out. */
export interface Options {
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

/** A change to a configured task. */
export interface Override {
  /** What to do. */
  description?: string | null;
  /** What the output should be. */
  expectedOutput?: string | null;
  /** What else the agent should know. */
  additionalContext?: string | null;
  /** An alias. */
  model?: string | null;
  /** How models answer. */
  modelOptions?: ModelOptions | null;
  /** Rounds of model calls at most. */
  maxIterations?: number | string | null;
  /** An answer cut at the output limit. One of continue, fail, accept, in any case. */
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
  /** Since when it is connected. */
  since?: string;
  ensemble?: string;
  realm?: string;
  version?: string;
  /** What it shares, or shared. */
  sharedCapabilities: Capability[];
  /** Why there is no link, or what is wrong with what it says about itself. */
  error?: string;
  /** Whether an ensemble takes work on. */
  status?: 'available' | 'busy' | 'draining';
  currentLoad?: number;
  maxConcurrent?: number;
  /** What it was asked for and has not answered, at most 100. */
  requests: PeerRequest[];
}

/** Something a peer was asked for, and how far it says it is. */
export interface PeerRequest {
  requestId: string;
  capability: string;
  /** As the peer says, like the rest. */
  status?: string;
  message?: string;
  percentComplete?: number;
}

/** A place on the canvas. */
export interface Position {
  /** From the middle to the right. */
  x: number;
  /** From the middle downwards. */
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
  /** The same as `detail`. */
  message: string;
  /** The same as the header `X-Request-Id`. */
  requestId: string;
  /** When to try again; also the header `Retry-After`. */
  retryAfterMs?: number;
  /** Where the run stands, when that is why. */
  runStatus?: 'ACCEPTED' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'REJECTED';
  /** What was decided before. */
  decision?: string;
  /** The turn that runs. */
  turnId?: string;
  /** Everything that is wrong with a request. */
  mistakes?: Mistake[];
  /** The version there is now. */
  version?: number;
}

/** A message that a model is sent. */
export interface Quoted {
  /** Who says it. */
  role: 'system' | 'user' | 'assistant' | 'tool';
  /** What is said. */
  content: string | null;
  /** The calls it asks for. */
  toolCalls: ToolRequest[] | null;
  /** The tool that answers. */
  toolName: string | null;
}

/** What would run. */
export interface Rehearsal {
  dryRun: true;
  tasks: RehearsedTask[];
  /** In which order tasks run. */
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
}

/** What is remembered under a name. */
export interface Remembered {
  scope: string;
  /** Who remembers. */
  type: 'memory' | 'reflection';
  entries: MemoryEntry[];
  /** True where it cannot be read: then only its row is told. */
  damaged?: boolean;
  /** Why it cannot be read. */
  damagedReason?: string;
}

/** Something that is remembered about the caller. */
export interface RememberedFact {
  id: string;
  text: string;
  /** Where it was said. */
  threadId: string;
  turnId: string;
  createdAt: string;
  /** True where it cannot be read: then only its row is told. */
  damaged?: boolean;
  /** Why it cannot be read. */
  damagedReason?: string;
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
  /** What the agent works on, or asks. */
  taskDescription: string;
  /** The place of the task in the run. */
  turnId: string;
  /** The name of the task. */
  taskName: string;
  /** The output that is reviewed; empty before the task. */
  taskOutput: string;
  /** Before, while or after the task is done. */
  timing: 'BEFORE_EXECUTION' | 'DURING_EXECUTION' | 'AFTER_EXECUTION';
  /** 0: it waits for ever. */
  timeoutMs: number;
  /** What happens at `expiresAt`; absent when it waits for ever. */
  onTimeout?: 'CONTINUE' | 'EXIT_EARLY' | 'FAIL';
  /** When it was asked for. */
  createdAt: string;
  /** Absent when it waits for ever. */
  expiresAt?: string;
  /** What an agent asks. */
  prompt?: string;
  /** Answers to choose from. */
  options?: string[];
}

/** What waits for a person. */
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
  /** Whose run it is: the owner of the key that began it, `local` without keys. */
  owner: string;
  /** What it is about: the values of its inputs, or else its first task. Rows of earlier versions have none. */
  title?: string;
  /** The beginning of its output, once it has completed. */
  outputPreview?: string;
  /** The status of a run. */
  status: 'ACCEPTED' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'REJECTED';
  /** When it was submitted. */
  startedAt: string;
  /** Null until it has ended. */
  durationMs: number | null;
  /** How long it waited for its turn. */
  queuedMs?: number;
  /** The run it retries. */
  retryOf?: string;
  forkedFrom?: ForkedFrom;
  taskCount: number;
  completedTasks: number;
  /** In which order tasks run. */
  workflow: 'SEQUENTIAL' | 'PARALLEL' | 'HIERARCHICAL';
  /** The model that tasks without one of their own ask. Rows of earlier versions have none. */
  model?: string;
  tags: Record<string, string>;
  paused: boolean;
  cancelRequested: boolean;
  /** -1 when some model did not say. */
  totalTokens: number;
  /** The first task under way. */
  currentTask?: CurrentTask;
  /** Why nothing happens just now. `queue`: it waits for a slot, at first or when it goes on after a review; `queuePosition` says how many wait before it. */
  waitingFor?: 'queue' | 'resume' | 'model' | 'lock' | 'retry' | 'review' | 'approval' | 'storage';
  costEstimate?: Cost;
  /** Why it failed. */
  error?: string;
  /** An output was cut at the output limit and taken all the same. */
  truncated?: boolean;
  /** Reviews that wait for a person. */
  openReviews?: string[];
  /** How many go before it, while it waits. */
  queuePosition?: number;
  /** True where it cannot be read: then only its row is told. */
  damaged?: boolean;
  /** Why it cannot be read. */
  damagedReason?: string;
}

/** Everything about a run that fits one answer. */
export interface RunDetail {
  runId: string;
  ensemble: string;
  /** The id of this execution, which its trace files are named after; in a list absent for runs of earlier versions. */
  ensembleId?: string;
  /** Whose run it is: the owner of the key that began it, `local` without keys. */
  owner: string;
  /** What it is about: the values of its inputs, or else its first task. Rows of earlier versions have none. */
  title?: string;
  /** The beginning of its output, once it has completed. */
  outputPreview?: string;
  /** The status of a run. */
  status: 'ACCEPTED' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'REJECTED';
  /** When it was submitted. */
  startedAt: string;
  /** Null until it has ended. */
  durationMs: number | null;
  /** How long it waited for its turn. */
  queuedMs?: number;
  /** The run it retries. */
  retryOf?: string;
  forkedFrom?: ForkedFrom;
  taskCount: number;
  completedTasks: number;
  /** In which order tasks run. */
  workflow: 'SEQUENTIAL' | 'PARALLEL' | 'HIERARCHICAL';
  /** The model that tasks without one of their own ask. Rows of earlier versions have none. */
  model?: string;
  tags: Record<string, string>;
  paused: boolean;
  cancelRequested: boolean;
  /** -1 when some model did not say. */
  totalTokens: number;
  /** The first task under way. */
  currentTask?: CurrentTask;
  /** Why nothing happens just now. `queue`: it waits for a slot, at first or when it goes on after a review; `queuePosition` says how many wait before it. */
  waitingFor?: 'queue' | 'resume' | 'model' | 'lock' | 'retry' | 'review' | 'approval' | 'storage';
  costEstimate?: Cost;
  /** Why it failed. */
  error?: string;
  /** An output was cut at the output limit and taken all the same. */
  truncated?: boolean;
  /** Reviews that wait for a person. */
  openReviews?: string[];
  /** How many go before it, while it waits. */
  queuePosition?: number;
  /** True where it cannot be read: then only its row is told. */
  damaged?: boolean;
  /** Why it cannot be read. */
  damagedReason?: string;
  inputs: Record<string, string>;
  tasks: Task[];
  /** How many events it has. */
  eventCount: number;
  limits: Limits;
  metrics: Metrics;
  pendingReviews: Review[];
  /** What came out of the run: the output of the task that completed last, in a hierarchy the manager's answer; null unless it completed. `run_result` says the same. */
  output: string | null;
  /** `output` as data, when its task has a schema. */
  parsedOutput?: unknown;
  completedAt?: string;
}

/** What is to be run; without `tasks` the configured ensemble. `null` means absent; unknown fields are named in `warnings`. */
export interface RunRequest {
  /** Values of template variables. */
  inputs?: Record<string, string | number | boolean | null> | null;
  /** Labels to find it by. */
  tags?: Record<string, string | number | boolean | null> | null;
  /** The tasks. */
  tasks?: TaskRequest[] | null;
  /** Changes to configured tasks, by their names. */
  taskOverrides?: Record<string, Override> | null;
  /** How it is carried out. */
  options?: Options | null;
  /** How models answer. */
  modelOptions?: ModelOptions | null;
  /** Only say what would run. */
  dryRun?: boolean | null;
}

/** A page of runs. */
export interface Runs {
  runs: Run[];
  total: number;
}

/** A message that was taken: it has begun, or waits. */
export interface Said {
  threadId: string;
  turnId: string;
  /** The first `chat_seq` of the turn. */
  seq?: number;
  /** How many go before it, while it waits. */
  queuePosition?: number;
}

/** A message. */
export interface Say {
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

/** A name runs remember under. */
export interface Scope {
  scope: string;
  /** Who remembers. */
  type: 'memory' | 'reflection';
  entries: number;
  /** True where it cannot be read: then only its row is told. */
  damaged?: boolean;
  /** Why it cannot be read. */
  damagedReason?: string;
}

/** Names that runs remember under. */
export interface Scopes {
  scopes: Scope[];
  total: number;
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

/** How the server is. */
export interface Status {
  /** A server that answers runs. */
  status: 'running';
  clients: number;
  port: number;
  /** Where a server stands. */
  lifecycleState: 'STARTING' | 'READY' | 'DRAINING';
  activeTasks: number;
  queueDepth: number;
  ensemble: string;
  version: string;
  sharedCapabilities: Capability[];
}

/** What was asked of a run. */
export interface Steered {
  runId: string;
  /** What a run does now. */
  status: 'CANCELLING' | 'PAUSED' | 'RESUMED';
}

/** A turn that was stopped. */
export interface Stopped {
  threadId: string;
  turnId: string;
  /** A turn that was told to stop is stopping. */
  status: 'STOPPING';
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
  /** Something that holds from now on. */
  status: 'APPLIED';
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
  /** What was said of an answer that was cut, where the task failed. */
  partialOutput?: string;
  /** The output was cut at the output limit and taken all the same. */
  truncated?: boolean;
  subtasks?: Subtask[];
}

/** A task a request brings. */
export interface TaskRequest {
  /** What to do; may have `{variables}`. */
  description: string;
  /** Its name, unique in the run. */
  name?: string | null;
  /** What the output should be. */
  expectedOutput?: string | null;
  /** Who does it; derived from the description when absent. */
  agent?: AgentRequest | null;
  /** What else the agent should know. */
  additionalContext?: string | null;
  /** An alias. */
  model?: string | null;
  /** How models answer. */
  modelOptions?: ModelOptions | null;
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
}

/** The task of a conversation. */
export interface TaskTraceMetadata {
  taskName: string;
  turnId: string;
  /** Calls of the run's own. */
  chores: TraceCall[];
}

/** A conversation. */
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
  /** What its turns may do without asking, where a message does not say and it was changed. */
  permissionMode: 'plan' | 'default' | 'auto' | null;
  /** True where it cannot be read: then only its row is told. */
  damaged?: boolean;
  /** Why it cannot be read. */
  damagedReason?: string;
}

/** What is to be different in a conversation. */
export type ThreadChange = {
  title?: string | null;
  permission_mode?: 'plan' | 'default' | 'auto' | null;
};

/** What was kept of turns whose messages asked for it with `memory_enabled`. */
export interface ThreadMemory {
  /** Turns that are yet to be looked through. */
  pending: string[];
  last: Mined | null;
}

/** A conversation that is to begin. */
export interface ThreadRequest {
  title?: string | null;
}

/** The conversations of a client. */
export interface Threads {
  total: number;
  threads: Thread[];
}

/** A tool that agents can be given. */
export interface Tool {
  name: string;
  description: string;
  /** Permission classes. */
  permission: 'safe' | 'knowledge' | 'network' | 'workspace_write' | 'editor_mutate' | 'subagent' | 'secrets';
  /** What doing a call twice would mean; decides what happens to one whose owner died. */
  effect: 'read' | 'idempotent' | 'once';
  /** A JSON Schema. */
  inputSchema: unknown;
  /** Whether it may be called directly. */
  direct: boolean;
  /** Why it cannot be called at the moment. */
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
  /** What an exported trace holds. */
  captureMode: 'OFF' | 'STANDARD' | 'FULL';
  ensembleId: string;
  /** In which order tasks run. */
  workflow: 'SEQUENTIAL' | 'PARALLEL' | 'HIERARCHICAL';
  startedAt: string;
  completedAt: string | null;
  totalDuration: string;
  inputs: Record<string, string>;
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

/** Money. */
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

/** What a run or a conversation has used. */
export interface TraceMetrics {
  /** -1 when some model did not say. */
  inputTokens: number;
  /** -1 when some model did not say. */
  outputTokens: number;
  /** -1 when some model did not say. */
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
  /** -1 when the model did not say. */
  inputTokens: number;
  /** -1 when the model did not say. */
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
  /** How long it took. */
  duration_ms: number;
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

/** A version of a saved workflow. */
export interface Workflow {
  id: string;
  version: number;
  createdAt: string;
  updatedAt: string;
  updatedBy: string;
  /** What it is called. */
  name: string;
  /** What it is for. */
  description?: string;
  /** The tasks as they were sent, each with its place on the canvas. */
  tasks: WorkflowTask[];
  /** Defaults for template variables. */
  inputs?: Record<string, string>;
  /** Options of its runs, as they were sent. */
  options?: Options;
  /** How models answer in its runs, as it was sent. */
  modelOptions?: ModelOptions;
  warnings?: string[];
}

/** A task graph as people draw it; what was shown may be sent back. */
export interface WorkflowDocument {
  /** What it is called. */
  name: string;
  /** Its tasks. */
  tasks: WorkflowTask[];
  /** What it is for. */
  description?: string | null;
  /** Defaults for template variables. */
  inputs?: Record<string, string | number | boolean | null> | null;
  /** How its runs are carried out. */
  options?: Options | null;
  /** How models answer in its runs. */
  modelOptions?: ModelOptions | null;
}

/** What a run of a workflow brings. */
export interface WorkflowRun {
  /** Values of template variables. */
  inputs?: Record<string, string | number | boolean | null> | null;
  /** Labels to find it by. */
  tags?: Record<string, string | number | boolean | null> | null;
  /** How it is carried out. */
  options?: Options | null;
  /** How models answer. */
  modelOptions?: ModelOptions | null;
  /** Only say what would run. */
  dryRun?: boolean | null;
}

/** A task, and where it stands on the canvas. */
export interface WorkflowTask {
  /** What to do; may have `{variables}`. */
  description: string;
  /** Its name, unique in the run. */
  name?: string | null;
  /** What the output should be. */
  expectedOutput?: string | null;
  /** Who does it; derived from the description when absent. */
  agent?: AgentRequest | null;
  /** What else the agent should know. */
  additionalContext?: string | null;
  /** An alias. */
  model?: string | null;
  /** How models answer. */
  modelOptions?: ModelOptions | null;
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
  /** True where it cannot be read: then only its row is told. */
  damaged?: boolean;
  /** Why it cannot be read. */
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
  /** What is in a folder. */
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
    body: CancelRequest;
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
    body: ModelRequest;
    answer: Switched;
  };
  /** Say something to the agents of a run */
  'POST /api/runs/{id}/inject': {
    body: InjectRequest;
    answer: Injected;
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
    answer: Frames;
  };
  /** What waits for a person */
  'GET /api/reviews': {
    answer: Reviews;
  };
  /** Decide a review */
  'POST /api/reviews/{id}': {
    body: DecisionRequest;
    answer: Decided;
  };
  /** Calls of chats that wait for a person */
  'GET /api/approvals': {
    answer: Approvals;
  };
  /** Allow a call, or not */
  'POST /api/approvals/{id}': {
    body: ApprovalRequest;
    answer: Answered;
  };
  /** Conversations, the newest first */
  'GET /api/threads': {
    answer: Threads;
  };
  /** Begin a conversation */
  'POST /api/threads': {
    body: ThreadRequest;
    answer: Thread;
  };
  /** A conversation */
  'GET /api/threads/{id}': {
    answer: Thread;
  };
  /** Rename a conversation, or change what its turn may do unasked */
  'PATCH /api/threads/{id}': {
    body: ThreadChange;
    answer: Thread;
  };
  /** Erase a conversation */
  'DELETE /api/threads/{id}': {
    answer: unknown;
  };
  /** What was said */
  'GET /api/threads/{id}/messages': {
    answer: Messages;
  };
  /** Say something */
  'POST /api/threads/{id}/messages': {
    body: Say;
    answer: Said;
  };
  /** A conversation's frames, as they come or page by page */
  'GET /api/threads/{id}/events': {
    answer: Frames;
  };
  /** Go on with the last answer, which was cut */
  'POST /api/threads/{id}/continue': {
    answer: Said;
  };
  /** Stop the turn that runs */
  'POST /api/threads/{id}/stop': {
    answer: Stopped;
  };
  /** A conversation as Markdown */
  'GET /api/threads/{id}/export': {
    answer: unknown;
  };
  /** What was allowed for the rest of a conversation */
  'GET /api/threads/{id}/grants': {
    answer: Grants;
  };
  /** Take back what was allowed for the rest of a conversation */
  'DELETE /api/threads/{id}/grants/{grant}': {
    answer: unknown;
  };
  /** What conversations have used, turn by turn */
  'GET /api/turns': {
    answer: Turns;
  };
  /** Collections of documents */
  'GET /api/collections': {
    answer: Collections;
  };
  /** Make a collection */
  'POST /api/collections': {
    body: CollectionRequest;
    answer: Collection;
  };
  /** A collection */
  'GET /api/collections/{name}': {
    answer: Collection;
  };
  /** Erase a collection with its documents */
  'DELETE /api/collections/{name}': {
    answer: unknown;
  };
  /** Add a document */
  'POST /api/collections/{name}/documents': {
    body: DocumentRequest;
    answer: AddedDocument;
  };
  /** Find passages */
  'GET /api/collections/{name}/search': {
    answer: Hits;
  };
  /** Call a tool directly */
  'POST /api/tools/{name}/invoke': {
    body: InvokeRequest;
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
    answer: Facts;
  };
  /** Erase everything that is remembered about the caller */
  'DELETE /api/facts': {
    answer: Forgotten;
  };
  /** Erase one fact */
  'DELETE /api/facts/{id}': {
    answer: unknown;
  };
  /** Who the caller is, and what its key allows */
  'GET /api/me': {
    answer: Me;
  };
  /** What runs remember for later ones */
  'GET /api/memory': {
    answer: Scopes;
  };
  /** What is remembered under a name */
  'GET /api/memory/{scope}': {
    answer: Remembered;
  };
  /** Forget everything under a name */
  'DELETE /api/memory/{scope}': {
    answer: unknown;
  };
  /** Forget one entry */
  'DELETE /api/memory/{scope}/{key}': {
    answer: unknown;
  };
  /** A run as it is exported for reading */
  'GET /api/runs/{id}/trace': {
    answer: Trace;
  };
  /** The files ended runs left */
  'GET /api/files': {
    answer: Files;
  };
  /** A trace file */
  'GET /api/file': {
    answer: unknown;
  };
  /** The files agents work on */
  'GET /api/workspace/files': {
    answer: WorkspaceItem[];
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
    answer: Live;
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
    answer: Drained;
  };
  /** Remove every byte of what was deleted from the disk */
  'POST /api/admin/compact': {
    answer: Compacted;
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
  /** Everything that happens and can be asked, over one socket */
  'GET /ws': {
    answer: unknown;
  };
  /** Saved workflows */
  'GET /api/workflows': {
    answer: Workflows;
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
    answer: Versions;
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
