// The frames of a thread, as the server describes them: one for each stored event, plus chunks of what is being said.

import type { ChatEvent, ServerChunk, ServerFrame, ServerToolProgress } from '../api/generated/frames';
import type { Message } from '../api/types';

export type { Approval, Message as Row } from '../api/types';

export type Tree = NonNullable<Message['execution_tree']>;
/** A call of a turn; its parent, the subtask it was made in, comes before it. */
export type TreeNode = Tree['nodes'][number];

/** A stored frame. */
export type ChatFrame = Exclude<Extract<ServerFrame, ChatEvent>, ChunkFrame>;
/** Words of a model that is still talking, or thinking; `offset` counts UTF-8 bytes. */
export type ChunkFrame = Exclude<ServerChunk, { done: true }>;
/** How far a call is that somebody else does. */
export type ProgressFrame = Extract<ServerToolProgress, { thread_id: string }>;
export type Frame = ChatFrame | ChunkFrame | ProgressFrame;

/** The frame of that type. */
export type Of<T extends ChatFrame['type']> = Extract<ChatFrame, { type: T }>;

export type Mode = Of<'turn_started'>['permission_mode'];
export type CostSummary = Of<'cost_summary'>;
/** A call this page is asked to make. */
export type ClientCall = Pick<Of<'tool_call'>, 'tool_call_id' | 'name' | 'args'>;
