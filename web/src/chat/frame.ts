// The frames of a thread, as the server sends them: one for each stored event, plus chunks of what is being said.

export interface Row {
  id: string;
  role: 'user' | 'assistant' | 'tool';
  content: string;
  tool_calls: { id: string; name: string; args: unknown }[] | null;
  tool_call_id: string | null;
  is_error: boolean;
  turn_id: string;
  execution_tree: Tree | null;
  created_at: string;
}

export interface Tree {
  version: 1;
  nodes: TreeNode[];
}

/** A call of a turn; its parent, the subtask it was made in, comes before it. */
export interface TreeNode {
  id: string;
  parent_id: string | null;
  name: string;
  title?: string;
  args_preview: string;
  result_preview: string;
  is_error: boolean;
  duration_ms: number;
}

export interface Approval {
  approval_id: string;
  tool_call_id: string;
  tool_name: string;
  category: string;
  args: unknown;
  message: string;
  created_at: string;
  expires_at: string | null;
  parent_id: string | null;
}

export interface CostSummary {
  total_usd: number | null;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  llm_calls: number;
  tool_calls: number;
  subtasks: number;
  wall_ms: number;
}

interface Stored {
  thread_id: string;
  turn_id: string;
  chat_seq: number;
  at: string;
}

interface Level {
  parent_id: string | null;
  depth: number;
}

export type ChatFrame =
  | (Stored & Level & Row & { type: 'message'; call_id?: string })
  | (Stored & { type: 'turn_started'; model: string; permission_mode: Mode })
  | (Stored & Level & { type: 'llm_started'; call_id: string; model: string; iteration: number })
  | (Stored & Level & { type: 'llm_completed'; call_id: string; content: string })
  | (Stored & Level & { type: 'llm_voided'; call_id: string; message: string; then: string })
  | (Stored & Level & { type: 'tool_call_update'; tool_call_id: string; name: string } & (
      | { status: 'start'; args: unknown; message: string | null }
      | { status: 'end'; result: string; is_error: boolean; duration_ms: number }
    ))
  | (Stored & Level & Approval & { type: 'tool_approval_request' })
  | (Stored & { type: 'tool_approval_resolved'; approval_id: string; decision: string; by: string })
  | (Stored & { type: 'permission_mode_changed'; permission_mode: Mode; by: string })
  | (Stored & { type: 'budget_exceeded'; reason: string; limit: number; observed: number })
  | (Stored & { type: 'error'; code: string; message: string })
  | (Stored & { type: 'turn_stopped' })
  | (Stored & CostSummary & { type: 'cost_summary' })
  | (Stored & { type: 'chunk'; done: true; status: string });

/** Words of a model that is still talking; `offset` counts UTF-8 bytes. */
export interface ChunkFrame extends Level {
  type: 'chunk';
  turn_id: string;
  call_id: string;
  content: string;
  offset: number;
  done?: undefined;
}

export type Frame = ChatFrame | ChunkFrame;

export type Mode = 'plan' | 'default' | 'auto';

export interface Thread {
  id: string;
  title: string;
  model: string | null;
  createdAt: string;
  updatedAt: string;
  running: boolean;
  turnId: string | null;
  chatSeq: number | null;
  queued: number;
}
