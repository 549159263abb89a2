// A thread as this page knows it: turns, and in each what was said and called, nested as it happened.

import type { TaskDocument, WorkflowDocument } from '../api/types';
import type { Approval, ClientCall, CostSummary, Mode } from './frame';

export interface ThreadState {
  /** The number of the next frame. */
  next: number;
  /** In the order they began. */
  turns: Turn[];
}

export interface Turn {
  id: string;
  at: string;
  /** What the person said. */
  said: string;
  isOver: boolean;
  /** A person stopped it. */
  isStopped?: true;
  /** Its answer was cut at the output limit. */
  isCut?: boolean;
  items: Item[];
  approvals: Approval[];
  /** Calls a page was asked to make that have no result yet. */
  asked: ClientCall[];
  cost?: CostSummary;
  mode?: Mode;
  model?: string;
}

export type Item = Words | Call | Note;

/** What one model call answered. */
export interface Words {
  kind: 'words';
  id: string;
  text: string;
  /** What it thought last, before it answered; nobody keeps that. */
  thought: string;
  isStreaming: boolean;
  /** Bytes streamed so far, to tell what was missed or came twice. */
  bytes: number;
  hasGap: boolean;
}

/** A tool call; a subtask has what it did in it. */
export interface Call {
  kind: 'call';
  id: string;
  name: string;
  title?: string;
  args?: unknown;
  result?: string;
  isError: boolean;
  isOver: boolean;
  startedAt?: string;
  durationMs?: number;
  /** How far it is, while it runs. */
  progress?: string;
  items: Item[];
  /** The workflow it plans, as far as it is. */
  plan?: Plan;
}

export interface Plan {
  objective: string;
  /** How often a draft was sent back, and why the last time. */
  refusals: number;
  mistakes: string;
  isChecked: boolean;
  tasks: TaskDocument[];
  graph?: WorkflowDocument;
}

export interface Note {
  kind: 'note';
  id: string;
  tone: 'plain' | 'warn' | 'bad';
  text: string;
}
