// The frames of a run, as the server describes them: one for each stored event, plus tokens and the result.

import type {
  RunEvent,
  ServerFrame,
  ServerLlmIterationStarted,
  ServerRunResult,
  ServerToken,
  ServerToolProgress,
} from '../api/generated/frames';
import type { TaskStatus } from '../api/types';

export type StoredFrame = Extract<ServerFrame, RunEvent>;
export type TokenFrame = ServerToken;
/** How far a call is that somebody else does. */
export type ProgressFrame = Extract<ServerToolProgress, { runId: string }>;
export type Frame = StoredFrame | TokenFrame | ProgressFrame | ServerRunResult;

/** The frame of that type. */
export type Of<T extends StoredFrame['type']> = Extract<StoredFrame, { type: T }>;

/** A message of a conversation, as the frame of a model call quotes it. */
export type Quoted = ServerLlmIterationStarted['messages'][number];

export const isStored = (frame: Frame): frame is StoredFrame => 'seq' in frame;

/** Whether it was copied from the run this one was made of: it happened there. */
export const isInherited = (frame: object): boolean => 'inherited' in frame && frame.inherited === true;

export const isOver = (status: TaskStatus): boolean =>
  status === 'COMPLETED' || status === 'FAILED' || status === 'CANCELLED' || status === 'SKIPPED';
