// The larger steps of the fold: what single frames do to a turn.

import type { WorkflowDocument } from '../api/types';
import type { ChunkFrame, Of } from './frame';
import { answerText } from './rows';
import type { Call, Item, Note, Turn } from './state';
import { t } from '../words/t';

/** Characters kept of a model's thoughts. */
const THOUGHT_MAX = 200;

/** The items at one level: of the turn, or of the subtask with this id. */
export function itemsOf(turn: Turn, parentId: string | null | undefined): Item[] {
  return parentId ? (findCall(turn.items, parentId)?.items ?? turn.items) : turn.items;
}

export function findCall(items: Item[], id: string): Call | undefined {
  for (const item of items) {
    if (item.kind !== 'call') continue;
    const found = item.id === id ? item : findCall(item.items, id);
    if (found) return found;
  }
  return undefined;
}

export function addNote(items: Item[], frame: { chat_seq: number }, tone: Note['tone'], text: string): void {
  items.push({ kind: 'note', id: String(frame.chat_seq), tone, text });
}

/** Adds a chunk to the text it belongs to. A repeated chunk is ignored; a missed one is noted until the whole comes. */
export function appendChunk(turn: Turn, frame: ChunkFrame): void {
  const found = itemsOf(turn, frame.parent_id).findLast((item) => item.kind === 'text' && item.id === frame.call_id);
  if (found?.kind !== 'text' || !found.isStreaming) return;
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

/** Replaces the chunks of a model call by its whole text; an empty one leaves nothing. */
export function settleText(
  turn: Turn,
  parentId: string | null,
  callId: string | undefined,
  text: string,
  id: string,
): void {
  const items = itemsOf(turn, parentId);
  const position = items.findLastIndex(
    (item) =>
      item.kind === 'text' && (callId === undefined ? item.text === text || item.isStreaming : item.id === callId),
  );
  const whole = text ? [answerText(items[position]?.id ?? id, text)] : [];
  if (position >= 0) items.splice(position, 1, ...whole);
  else items.push(...whole);
}

export function removeText(items: Item[], id: string): void {
  const position = items.findLastIndex((item) => item.kind === 'text' && item.id === id);
  if (position >= 0) items.splice(position, 1);
}

type CallUpdate = Of<'tool_call_update'>;

export function startCall(turn: Turn, frame: Extract<CallUpdate, { status: 'start' }>): void {
  itemsOf(turn, frame.parent_id).push({
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

export function endCall(turn: Turn, frame: Extract<CallUpdate, { status: 'end' }>): void {
  turn.clientCalls = turn.clientCalls.filter(({ tool_call_id }) => tool_call_id !== frame.tool_call_id);
  const call = findCall(turn.items, frame.tool_call_id);
  if (!call) return;
  if (call.plan && isWorkflow(frame.data)) call.plan.graph = frame.data;
  call.result = frame.result;
  call.isError = frame.is_error;
  call.isOver = true;
  call.durationMs = frame.duration_ms;
}

/** Whether the data of a call is the workflow it has built. */
function isWorkflow(data: unknown): data is WorkflowDocument {
  return typeof data === 'object' && data !== null && 'tasks' in data && Array.isArray(data.tasks);
}

/** Adds what is known of a workflow to the call that plans it. */
export function addPlan(turn: Turn, frame: Of<'planning_update' | 'task_update'>): void {
  const call = frame.parent_id === null ? undefined : findCall(turn.items, frame.parent_id);
  if (!call) return;
  call.plan ??= { objective: '', refusals: 0, mistakes: '', isChecked: false, tasks: [] };
  const { plan } = call;
  if (frame.type === 'task_update') plan.tasks.push(frame.task);
  else if (frame.phase === 'planning') plan.objective = frame.content;
  else if (frame.status === 'end') plan.isChecked = true;
  else {
    plan.refusals += 1;
    plan.mistakes = frame.content;
  }
}

export function resolveApproval(turn: Turn, frame: Of<'tool_approval_resolved'>): void {
  const { by, decision, approval_id: id, args } = frame;
  const asked = turn.approvals.find(({ approval_id }) => approval_id === id);
  const tool = asked?.tool_name ?? t('it');
  const call = asked && args !== undefined ? findCall(turn.items, asked.tool_call_id) : undefined;
  if (call) call.args = args;
  const texts: Record<string, string> = {
    allow:
      args === undefined
        ? t('{by} allowed {tool}', { by, tool })
        : t('{by} allowed {tool} with other arguments', { by, tool }),
    allow_for_chat: t('{by} allowed {tool} for this chat', { by, tool }),
    deny: t('{by} denied {tool}', { by, tool }),
  };
  turn.approvals = turn.approvals.filter(({ approval_id }) => approval_id !== id);
  const tone = decision === 'deny' ? 'warn' : 'plain';
  addNote(turn.items, frame, tone, texts[decision] ?? t('{by} decided {decision} for {tool}', { by, decision, tool }));
}

export function endTurn(turn: Turn): void {
  turn.isOver = true;
  turn.approvals = [];
  turn.clientCalls = [];
  turn.items = turn.items.filter((item) => item.kind !== 'text' || item.text !== '');
  for (const item of turn.items) if (item.kind === 'text') item.isStreaming = false;
}
