// The frames of a thread, as the server describes them: one for each stored event, chunks of the text a model is still
// writing, and the progress of calls.

import type { ChatEvent, ServerFrame } from '../../../clients/typescript/src/generated/frames';
import type { Message } from '../api/types';

export type { Approval, Message as Row } from '../api/types';

/** A file that a message was sent with. */
export type Attached = NonNullable<Message['attachments']>[number];

/** A call of a turn, as its row keeps it; its parent, the subtask it was made in, comes before it. */
export type TreeNode = NonNullable<Message['execution_tree']>['nodes'][number];

/** A piece of the text or the thoughts of a model that is still writing; `offset` counts UTF-8 bytes. */
export type ChunkFrame = Exclude<Extract<ServerFrame, { type: 'chunk' }>, { done: true }>;
/** The progress of a call that another program makes. */
export type ProgressFrame = Extract<ServerFrame, { type: 'tool_progress'; thread_id: string }>;
export type LiveFrame = ChunkFrame | ProgressFrame;
export type StoredFrame = Exclude<Extract<ServerFrame, ChatEvent>, LiveFrame>;
export type Frame = StoredFrame | LiveFrame;

/** The frame of that type. */
export type Of<T extends StoredFrame['type']> = Extract<StoredFrame, { type: T }>;

export const isStored = (frame: Frame): frame is StoredFrame =>
  frame.type === 'chunk' ? 'done' in frame : frame.type !== 'tool_progress';

export type Mode = Of<'turn_started'>['permission_mode'];
export type CostSummary = Of<'cost_summary'>;
/** A call this page is asked to make. */
export type ClientCall = Pick<Of<'tool_call'>, 'tool_call_id' | 'name' | 'args'>;
