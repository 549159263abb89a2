// A run as this page knows it: what the frames so far add up to.

import type { CancelMode, Review, RunStatus, TaskStatus, Workflow } from '../api/types';
import type { Quoted } from './frame';

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
  turns: ReadonlyMap<string, Turn>;
  /** Reviews that wait for a person. */
  reviews: ReadonlyMap<string, Review>;
  directives: ReadonlyMap<string, Directive>;
  /** What happened to the run as a whole. */
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
  /** Some model did not say how many tokens it used. */
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
  /** The output was cut at the output limit and taken all the same. */
  isCut?: boolean;
  /** What was said of an answer that was cut, where the task failed. */
  partial?: string;
  /** It hands the other tasks out. */
  isManager?: true;
}

/** A task's or a subtask's conversation. */
export interface Turn {
  id: string;
  /** The turn that asked for it, when it is a subtask or an errand. */
  parent?: string;
  taskIndex: number;
  title: string;
  role: string;
  startedAt: string;
  /** It began before the first event folded here, so `startedAt` is later than that. */
  isJoined?: true;
  endedAt?: string;
  tools: string[];
  prompt?: string;
  items: Item[];
  /** Messages of the conversation shown so far. */
  told: number;
  phase: Phase;
  inputTokens: number;
  outputTokens: number;
  costUsd?: number;
}

/** What a turn is doing. */
export type Phase =
  | { is: 'starting'; since: string }
  | { is: 'asking'; since: string; model: string }
  | { is: 'answering'; since: string; model: string }
  | { is: 'tools'; since: string; running: number; last: string }
  | { is: 'retrying'; since: string; at: string; model?: string; message: string }
  | { is: 'between'; since: string }
  | { is: 'reviewing'; since: string }
  | { is: 'over' };

export type Item = Round | Chore | TurnNote | Gate;

/** One call of the model with the tools it asked for. */
export interface Round {
  kind: 'round';
  seq: number;
  index: number;
  model: string;
  startedAt: string;
  endedAt?: string;
  /** What was new in the conversation, apart from earlier answers and results. */
  sent: Quoted[];
  /** What the model says while it is still talking. */
  streaming: string;
  /** Words were said while nobody listened here; they come with the answer. */
  isPartial?: true;
  text?: string;
  calls: Call[];
  inputTokens: number;
  outputTokens: number;
  latencyMs?: number;
  failures: Failure[];
  violations?: string[];
}

/** Work on a task that no model asked for. */
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
  /** When it was tried again. */
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
  /** How far it is, while it runs. */
  progress?: string;
  /** What another ensemble used for it. */
  charged?: { tokens: number; costUsd: number };
  /** The call became a conversation of its own, under the same id. */
  isTurn: boolean;
}

export type Tone = 'plain' | 'good' | 'warn' | 'bad';

export interface Note {
  seq: number;
  at: string;
  tone: Tone;
  text: string;
}

export interface TurnNote extends Note {
  kind: 'note';
  detail?: string;
}

/** A review, where it happened in the conversation. */
export interface Gate {
  kind: 'gate';
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
