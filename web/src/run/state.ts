// A run as this page knows it: the sum of the frames read so far.

import type { CancelMode, Review, RunStatus, TaskStatus, Workflow } from '../api/types';
import type { QuotedMessage } from './frame';

export interface RunState {
  runId: string;
  /** The first event folded; 0 when everything is here. */
  first: number;
  /** The number of the next event. */
  next: number;
  /** Events before this are already in the totals. */
  counted: number;
  ensemble: string;
  workflow: Workflow;
  status: RunStatus;
  acceptedAt: string;
  startedAt?: string;
  endedAt?: string;
  at: string;
  exitReason?: string;
  error?: string;
  paused: boolean;
  cancel?: CancelMode;
  model?: string;
  /** In declared order. */
  tasks: Task[];
  /** Tasks that are skipped, repeated or fanned out together. */
  groups: readonly TaskGroup[];
  /** By id: the number of a task, or the id of the call that began a subtask. */
  conversations: ReadonlyMap<string, Conversation>;
  /** Reviews that wait for a person. */
  reviews: ReadonlyMap<string, Review>;
  directives: ReadonlyMap<string, Directive>;
  /** Notes about the run as a whole. */
  notes: Note[];
  breach?: { reason: string; limit: number; observed: number };
  totals: Totals;
}

export interface Totals {
  inputTokens: number;
  outputTokens: number;
  modelCalls: number;
  toolCalls: number;
  costUsd: number;
  /** Some model did not report its tokens. */
  unknownTokens: boolean;
  /** Some model has no price. */
  unpriced: boolean;
}

export interface Task {
  /** From 1, as in frames. */
  index: number;
  name: string;
  role: string;
  /** Numbers of the tasks whose output this one reads. */
  context: number[];
  status: TaskStatus;
  description?: string;
  model?: string;
  startedAt?: string;
  endedAt?: string;
  tokens: number;
  toolCalls: number;
  output?: string;
  parsed?: unknown;
  error?: string;
  /** It was done in the run this one was made of; its times are that run's. */
  isInherited?: true;
  /** The requester who gave it another output when this run was made of another. */
  outputEditedBy?: string;
  /** The output was cut at the output limit and taken all the same. */
  isCut?: boolean;
  /** The part of the answer there was when the task failed. */
  partial?: string;
  /** It hands out the other tasks. */
  isManager?: true;
  /** The condition under which it is done. */
  when?: string;
  /** The list for each of whose items it is done. */
  forEach?: string;
  /** Its results for each item or in each round, in the order they began. */
  instances?: readonly Instance[];
}

/** A task for one item, or in one round of its group. */
export interface Instance extends Pick<
  Task,
  'status' | 'description' | 'startedAt' | 'endedAt' | 'tokens' | 'toolCalls' | 'output' | 'error' | 'isInherited'
> {
  /** Its conversation's. */
  id: string;
  /** From 0, as in frames. */
  item?: number;
  round?: number;
}

/** Tasks that belong together, by their numbers. */
export interface TaskGroup {
  name: string;
  tasks: number[];
  when?: string;
  forEach?: string;
  repeatUntil?: string;
  maxRounds?: number;
}

/** The conversation of a task, a subtask or an errand with its models. Frames call its id `turnId`. */
export interface Conversation {
  id: string;
  /** The conversation that asked for it, when it is a subtask or an errand. */
  parent?: string;
  taskIndex: number;
  title: string;
  role: string;
  startedAt: string;
  /** It began before the first event folded here, so `startedAt` is too late. */
  isJoined?: true;
  endedAt?: string;
  tools: string[];
  prompt?: string;
  items: Item[];
  /** The number of messages already in `items`. */
  messageCount: number;
  phase: Phase;
  inputTokens: number;
  outputTokens: number;
  costUsd?: number;
}

/** The step a conversation is at. */
export type Phase =
  | { kind: 'starting'; since: string }
  | { kind: 'asking'; since: string; model: string }
  | { kind: 'answering'; since: string; model: string }
  | { kind: 'tools'; since: string; running: number; last: string }
  | { kind: 'retrying'; since: string; at: string; model?: string; message: string }
  | { kind: 'between'; since: string }
  | { kind: 'reviewing'; since: string }
  | { kind: 'over' };

export type Item = Round | Chore | ConversationNote | ReviewItem;

/** One model call with the tools it asked for. */
export interface Round {
  kind: 'round';
  seq: number;
  index: number;
  model: string;
  startedAt: string;
  endedAt?: string;
  /** The new messages of the call, apart from earlier answers and results. */
  sent: QuotedMessage[];
  /** The text of the model while it is still writing. */
  streaming: string;
  /** A part of the text was missed here; it comes with the answer. */
  isPartial?: true;
  text?: string;
  calls: Call[];
  inputTokens: number;
  outputTokens: number;
  latencyMs?: number;
  /** The time until its first word; known only where this page saw it come. */
  firstWordMs?: number;
  /** Its part of the conversation's cost, where the model has a price. */
  costUsd?: number;
  failures: Failure[];
  violations?: string[];
}

/** Work on a task that no model asked for, such as a guard. */
export interface Chore {
  kind: 'chore';
  seq: number;
  startedAt: string;
  text: string;
  calls: Call[];
}

export interface Failure {
  seq: number;
  at: string;
  error: string;
  message: string;
  then: string;
  /** The time of the next attempt. */
  retriedAt?: string;
}

export interface Call {
  id: string;
  seq: number;
  tool: string;
  args: string;
  startedAt: string;
  endedAt?: string;
  durationMs?: number;
  outcome?: 'SUCCESS' | 'FAILURE';
  result?: string;
  data?: unknown;
  /** The latest progress, while it runs. */
  progress?: string;
  /** The usage of another ensemble for it. */
  charged?: { tokens: number; costUsd: number };
  /** The call became a conversation of its own, under the same id. */
  isConversation: boolean;
}

export type Tone = 'plain' | 'good' | 'warn' | 'bad';

export interface Note {
  seq: number;
  at: string;
  tone: Tone;
  text: string;
}

export interface ConversationNote extends Note {
  kind: 'note';
  detail?: string;
}

/** A review, where it happened in the conversation. */
export interface ReviewItem {
  kind: 'review';
  seq: number;
  reviewId: string;
  review: Review;
  outcome?: { seq: number; at: string; text: string; detail?: string };
}

export interface Directive {
  id: string;
  seq: number;
  at: string;
  from: string;
  content: string;
  target?: string;
  priority: string;
  deliveredTo: { taskIndex: number; iterationIndex: number }[];
}
