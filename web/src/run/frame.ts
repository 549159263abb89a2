// The frames of a run, as the server describes them: one for each stored event, tokens of the text a model is still
// writing, the progress of calls, and the result.

import type { RunEvent, ServerFrame } from '../../../clients/typescript/src/generated/frames';
import type { TaskStatus } from '../api/types';

export type StoredFrame = Extract<ServerFrame, RunEvent>;
export type TokenFrame = Extract<ServerFrame, { type: 'token' }>;
/** The progress of a call that another program makes. */
export type ProgressFrame = Extract<ServerFrame, { type: 'tool_progress'; runId: string }>;
export type LiveFrame = TokenFrame | ProgressFrame | Extract<ServerFrame, { type: 'run_result' }>;
export type Frame = StoredFrame | LiveFrame;

/** The frame of that type. */
export type Of<T extends StoredFrame['type']> = Extract<StoredFrame, { type: T }>;

/** A message of a conversation, as the frame of a model call quotes it. */
export type QuotedMessage = Of<'llm_iteration_started'>['messages'][number];

export const isStored = (frame: Frame): frame is StoredFrame => 'seq' in frame;

/** Whether a frame or a task was copied from the run this one was made of: it happened there. */
export const isInherited = (copied: { inherited?: boolean }): boolean => copied.inherited === true;

export const isOver = (status: TaskStatus): boolean =>
  status === 'COMPLETED' || status === 'FAILED' || status === 'CANCELLED' || status === 'SKIPPED';
