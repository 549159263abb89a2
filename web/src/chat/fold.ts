// The reducer of a thread. Stored rows give turns that are over; frames give every turn from its first one on. Both
// lay a turn out alike: what was said, then the calls it asked for, subtasks with what they did inside.

import type { TaskDocument, WorkflowDocument } from '../api/types';
import { breachText, cutText, progressText } from '../run/words';
import { grouped } from '../ui/grouped';
import type { ChatFrame, ChunkFrame, Frame, Mode, Row, TreeNode } from './frame';
import type { Call, Item, Note, ThreadState, Turn, Words } from './state';

/** Characters kept of what a model thinks. */
const THOUGHT_MAX = 200;

/** Turns as their rows tell them. */
export function fromRows(rows: readonly Row[], next: number): ThreadState {
  const turns = [...grouped(rows, ({ turn_id }) => turn_id)].map(([id, own]) => turnOf(id, own));
  return { next, turns };
}

function turnOf(id: string, rows: Row[]): Turn {
  const asked = rows.find(({ role }) => role === 'user');
  const nodes = rows.findLast(({ execution_tree }) => execution_tree !== null)?.execution_tree?.nodes ?? [];
  const below = grouped(nodes, ({ parent_id }) => parent_id);
  const results = new Map(rows.filter(({ role }) => role === 'tool').map((row) => [row.tool_call_id, row]));
  const items = rows
    .filter(({ role }) => role === 'assistant')
    .flatMap((row): Item[] => {
      const calls = (row.tool_calls ?? []).map(({ id: call, name, args }): Call => {
        const node = nodes.find((each) => each.id === call);
        const result = results.get(call);
        return { ...fromNode(node ?? missing(call, name), below), args, ...(result ? { result: result.content } : {}) };
      });
      if (row.error !== null) return failed(row, row.error);
      return [...(row.content ? [words(row.id, row.content)] : []), ...calls];
    });
  const cut = rows.at(-1)?.truncated ? { isCut: true } : {};
  return {
    id,
    at: asked?.created_at ?? '',
    said: asked?.content ?? '',
    isOver: true,
    ...cut,
    items,
    approvals: [],
    asked: [],
  };
}

/** What a turn that failed had said, and why it failed. */
function failed(row: Row, error: string): Item[] {
  const said = row.content.slice(0, row.content.length - error.length).trimEnd();
  return [...(said ? [words(row.id, said)] : []), { kind: 'note', id: `${row.id}-error`, tone: 'bad', text: error }];
}

function missing(id: string, name: string): TreeNode {
  return { id, parent_id: null, name, args_preview: '', result_preview: '', is_error: true, duration_ms: 0 };
}

function fromNode(node: TreeNode, below: Map<string | null, TreeNode[]>): Call {
  const items = (below.get(node.id) ?? []).map((child) => fromNode(child, below));
  return {
    kind: 'call',
    id: node.id,
    name: node.name,
    ...(node.title ? { title: node.title } : {}),
    args: node.args_preview,
    result: node.result_preview,
    isError: node.is_error,
    isOver: true,
    durationMs: node.duration_ms,
    items,
  };
}

function words(id: string, text: string): Words {
  return { kind: 'words', id, text, thought: '', isStreaming: false, bytes: 0, hasGap: false };
}

export function fold(state: ThreadState, frames: readonly Frame[]): ThreadState {
  let { next } = state;
  const turns = [...state.turns];
  const fresh = new Set<Turn>();
  const change = (id: string): Turn | undefined => {
    const at = turns.findLastIndex((turn) => turn.id === id);
    const known = turns[at];
    if (!known || fresh.has(known)) return known;
    // A turn is small: copied whole, once for each batch that touches it.
    const copy = structuredClone(known);
    fresh.add(copy);
    turns[at] = copy;
    return copy;
  };
  for (const frame of frames) {
    if (isLive(frame)) {
      const turn = change(frame.turn_id);
      if (turn) heard(turn, frame);
      continue;
    }
    if (frame.type === 'tool_progress') {
      const call = find(change(frame.turn_id)?.items ?? [], frame.tool_call_id);
      if (call && !call.isOver) call.progress = progressText(frame);
      continue;
    }
    if (frame.chat_seq < next) continue;
    next = frame.chat_seq + 1;
    if (frame.type === 'message' && frame.role === 'user') {
      const begun: Turn = {
        id: frame.turn_id,
        at: frame.at,
        said: frame.content,
        isOver: false,
        items: [],
        approvals: [],
        asked: [],
      };
      fresh.add(begun);
      const at = turns.findIndex(({ id }) => id === begun.id);
      if (at >= 0) turns[at] = begun;
      else turns.push(begun);
      continue;
    }
    const turn = change(frame.turn_id);
    // Told from its middle on, or by its rows: those know more.
    if (turn && !turn.isOver) apply(turn, frame);
  }
  return { next, turns };
}

function apply(turn: Turn, frame: ChatFrame): void {
  switch (frame.type) {
    case 'message':
      // Why it failed was told before, and what it said stays.
      if (frame.is_error) return;
      settle(turn, null, frame.call_id, frame.content, frame.id);
      if (frame.truncated) turn.isCut = true;
      return;
    case 'turn_started':
      turn.model = frame.model;
      turn.mode = frame.permission_mode;
      return;
    case 'llm_started':
      level(turn, frame.parent_id).push({ ...words(frame.call_id, ''), isStreaming: true });
      return;
    case 'llm_completed':
      settle(turn, frame.parent_id, frame.call_id, frame.content, frame.call_id);
      return;
    case 'llm_voided':
      remove(level(turn, frame.parent_id), frame.call_id);
      // When it is given up, what follows says why.
      if (frame.then !== 'give_up') say(level(turn, frame.parent_id), frame, 'warn', `${frame.message}; tries again`);
      return;
    case 'answer_truncated':
      // The root's own answer says so with its row, and a failed one with its error.
      if (frame.then === 'continue')
        say(level(turn, frame.parent_id ?? null), frame, 'warn', cutText(frame.then, frame.in_call ?? false));
      return;
    case 'answer_empty':
      if (frame.then === 'continue')
        say(level(turn, frame.parent_id ?? null), frame, 'warn', 'Said nothing; asked again');
      return;
    case 'tool_call_update':
      return frame.status === 'start' ? started(turn, frame) : ended(turn, frame);
    case 'tool_call':
      turn.asked.push({ tool_call_id: frame.tool_call_id, name: frame.name, args: frame.args });
      return;
    case 'planning_update':
    case 'task_update':
      return planned(turn, frame);
    case 'tool_approval_request':
      turn.approvals.push(frame);
      return;
    case 'tool_approval_resolved':
      return resolved(turn, frame);
    case 'permission_mode_changed':
      turn.mode = frame.permission_mode;
      say(turn.items, frame, 'plain', `${frame.by} changed the mode: ${MODES[frame.permission_mode]}`);
      return;
    case 'budget_exceeded':
      say(turn.items, frame, 'bad', breachText(frame));
      return;
    case 'error':
      say(turn.items, frame, 'bad', frame.message);
      return;
    case 'turn_stopped':
      turn.isStopped = true;
      return;
    case 'cost_summary':
      turn.cost = frame;
      return;
    case 'chunk':
      over(turn);
      // What it had said by then is told after the stop, and stands before it.
      if (turn.isStopped) say(turn.items, frame, 'plain', 'Stopped');
      return;
    default:
    // Nothing a conversation shows.
  }
}

const MODES: Record<Mode, string> = { plan: 'no effects', default: 'asks before effects', auto: 'does without asking' };

function resolved(turn: Turn, frame: Extract<ChatFrame, { type: 'tool_approval_resolved' }>): void {
  const { by, decision, approval_id: id } = frame;
  const tool = turn.approvals.find(({ approval_id }) => approval_id === id)?.tool_name ?? 'it';
  const words: Record<string, string> = {
    allow: `allowed ${tool}`,
    allow_for_chat: `allowed ${tool} for this chat`,
    deny: `denied ${tool}`,
  };
  turn.approvals = turn.approvals.filter(({ approval_id }) => approval_id !== id);
  say(
    turn.items,
    frame,
    decision === 'deny' ? 'warn' : 'plain',
    `${by} ${words[decision] ?? `decided ${decision} for ${tool}`}`,
  );
}

const isLive = (frame: Frame): frame is ChunkFrame => frame.type === 'chunk' && !('done' in frame);

/** Words as they come. What came twice is passed over; what was missed is remembered until the whole is there. */
function heard(turn: Turn, frame: ChunkFrame): void {
  const found = level(turn, frame.parent_id).findLast((item) => item.kind === 'words' && item.id === frame.call_id);
  if (found?.kind !== 'words' || !found.isStreaming) return;
  const { content } = frame;
  if ('thinking' in frame) {
    found.thought = (found.thought + content).slice(-THOUGHT_MAX);
    return;
  }
  const { offset } = frame;
  if (offset < found.bytes) return;
  if (offset > found.bytes) found.hasGap = true;
  found.text += content;
  found.bytes = offset + new TextEncoder().encode(content).length;
}

/** The whole of what a model call said. */
function settle(turn: Turn, parent: string | null, call: string | undefined, text: string, id: string): void {
  const items = level(turn, parent);
  const at = items.findLastIndex(
    (item) => item.kind === 'words' && (call === undefined ? item.text === text || item.isStreaming : item.id === call),
  );
  const whole = text ? [words(at < 0 ? id : (items[at]?.id ?? id), text)] : [];
  if (at >= 0) items.splice(at, 1, ...whole);
  else items.push(...whole);
}

type Update = Extract<ChatFrame, { type: 'tool_call_update' }>;

function started(turn: Turn, frame: Extract<Update, { status: 'start' }>): void {
  level(turn, frame.parent_id).push({
    kind: 'call',
    id: frame.tool_call_id,
    name: frame.name,
    ...(frame.message ? { title: frame.message } : {}),
    args: frame.args,
    isError: false,
    isOver: false,
    startedAt: frame.at,
    items: [],
  });
}

function ended(turn: Turn, frame: Extract<Update, { status: 'end' }>): void {
  turn.asked = turn.asked.filter(({ tool_call_id }) => tool_call_id !== frame.tool_call_id);
  const call = find(turn.items, frame.tool_call_id);
  if (call?.plan && frame.data) call.plan.graph = frame.data as unknown as WorkflowDocument;
  if (call)
    Object.assign(call, { result: frame.result, isError: frame.is_error, isOver: true, durationMs: frame.duration_ms });
}

type Planning = Extract<ChatFrame, { type: 'planning_update' | 'task_update' }>;

/** A workflow comes into being, below the call that asked for it. */
function planned(turn: Turn, frame: Planning): void {
  const call = frame.parent_id === null ? undefined : find(turn.items, frame.parent_id);
  if (!call) return;
  call.plan ??= { objective: '', refusals: 0, mistakes: '', isChecked: false, tasks: [] };
  const { plan } = call;
  if (frame.type === 'task_update') plan.tasks.push(frame.task as TaskDocument);
  else if (frame.phase === 'planning') plan.objective = frame.content;
  else if (frame.status === 'end') plan.isChecked = true;
  else Object.assign(plan, { refusals: plan.refusals + 1, mistakes: frame.content });
}

function over(turn: Turn): void {
  turn.isOver = true;
  turn.approvals = [];
  turn.asked = [];
  turn.items = turn.items.filter((item) => item.kind !== 'words' || item.text !== '');
  for (const item of turn.items) if (item.kind === 'words') item.isStreaming = false;
}

function say(items: Item[], frame: { chat_seq: number }, tone: Note['tone'], text: string): void {
  items.push({ kind: 'note', id: String(frame.chat_seq), tone, text });
}

/** Where things at this level stand: in the turn, or in the subtask they belong to. */
function level(turn: Turn, parent: string | null): Item[] {
  return parent === null ? turn.items : (find(turn.items, parent)?.items ?? turn.items);
}

function find(items: Item[], id: string): Call | undefined {
  for (const item of items) {
    if (item.kind !== 'call') continue;
    const found = item.id === id ? item : find(item.items, id);
    if (found) return found;
  }
  return undefined;
}

function remove(items: Item[], id: string): void {
  const at = items.findLastIndex((item) => item.kind === 'words' && item.id === id);
  if (at >= 0) items.splice(at, 1);
}
