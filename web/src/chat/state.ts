// A thread as this page knows it: turns, and in each the answers and calls, nested as they happened.

import type { WorkflowDocument } from '../api/types';
import type { Approval, Attached, ClientCall, CostSummary, Mode, Of } from './frame';

export interface ThreadState {
  /** The number of the next frame. */
  next: number;
  /** In the order they began. */
  turns: Turn[];
}

export interface Turn {
  id: string;
  at: string;
  /** The person's message, and the files it came with. */
  message: string;
  attachments?: Attached[];
  /** It is of the thread this one branched off from. */
  isEarlier?: true;
  isOver: boolean;
  /** A person stopped it. */
  isStopped?: true;
  /** Its answer was cut at the output limit. */
  isCut?: boolean;
  items: Item[];
  approvals: Approval[];
  /** Calls a page was asked to make that have no result yet. */
  clientCalls: ClientCall[];
  cost?: CostSummary;
  mode?: Mode;
  model?: string;
}

export type Item = AnswerText | Call | Note;

/** The text one model call answered. */
export interface AnswerText {
  kind: 'text';
  id: string;
  text: string;
  /** The end of the model's thoughts before it answers; they are not stored. */
  thought: string;
  isStreaming: boolean;
  /** Bytes streamed so far, by which missed and repeated chunks are noticed. */
  bytes: number;
  hasGap: boolean;
}

/** A tool call; a subtask holds the items of its own conversation. */
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
  /** The latest progress, while it runs. */
  progress?: string;
  items: Item[];
  /** The workflow it plans, as far as it is known. */
  plan?: Plan;
}

export interface Plan {
  objective: string;
  /** The number of drafts that were sent back, and the mistakes of the last. */
  refusals: number;
  mistakes: string;
  isChecked: boolean;
  tasks: PlannedTask[];
  graph?: WorkflowDocument;
}

export type PlannedTask = Of<'task_update'>['task'];

export interface Note {
  kind: 'note';
  id: string;
  tone: 'plain' | 'warn' | 'bad';
  text: string;
}
