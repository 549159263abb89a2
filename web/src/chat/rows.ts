// Turns that are over, from the stored rows of a thread. They are laid out as the fold lays them out: the text of an
// answer, then the calls it asked for, subtasks with their own calls inside.

import { grouped } from '../ui/grouped';
import type { Row, TreeNode } from './frame';
import type { AnswerText, Call, Item, ThreadState, Turn } from './state';

export function fromRows(rows: readonly Row[], next: number): ThreadState {
  const turns = [...grouped(rows, ({ turn_id }) => turn_id)].flatMap(([id, own]) => {
    const begins = own.findLastIndex(({ role }) => role === 'user');
    return [...earlierTurns(own.slice(0, Math.max(0, begins))), turnOf(id, own.slice(Math.max(0, begins)))];
  });
  return { next, turns };
}

/** The rows before the message of a turn: what was said before its thread began, each message with its answers. */
function earlierTurns(rows: readonly Row[]): Turn[] {
  const starts = rows.flatMap(({ role }, at) => (role === 'user' || at === 0 ? [at] : []));
  return starts.map((from, position) => {
    const own = rows.slice(from, starts[position + 1]);
    return { ...turnOf(own[0]?.id ?? '', own), isEarlier: true };
  });
}

export function answerText(id: string, text: string): AnswerText {
  return { kind: 'text', id, text, thought: '', isStreaming: false, bytes: 0, hasGap: false };
}

function turnOf(id: string, rows: Row[]): Turn {
  const first = rows.find(({ role }) => role === 'user');
  const nodes = rows.findLast(({ execution_tree }) => execution_tree !== null)?.execution_tree?.nodes ?? [];
  const children = grouped(nodes, ({ parent_id }) => parent_id);
  const results = new Map(rows.filter(({ role }) => role === 'tool').map((row) => [row.tool_call_id, row]));
  const items = rows
    .filter(({ role }) => role === 'assistant')
    .flatMap((row): Item[] => {
      if (row.error !== null) return failedAnswer(row, row.error);
      const calls = (row.tool_calls ?? []).map(({ id: callId, name, args }): Call => {
        const node = nodes.find((each) => each.id === callId) ?? missingNode(callId, name);
        const result = results.get(callId);
        return { ...callOf(node, children), args, ...(result ? { result: result.content } : {}) };
      });
      return [...(row.content ? [answerText(row.id, row.content)] : []), ...calls];
    });
  return {
    id,
    at: first?.created_at ?? '',
    message: first?.content ?? '',
    ...(first?.attachments?.length ? { attachments: first.attachments } : {}),
    isOver: true,
    ...(rows.at(-1)?.truncated ? { isCut: true } : {}),
    items,
    approvals: [],
    clientCalls: [],
  };
}

/** The text of an answer that failed, and the error. The row has both in one text. */
function failedAnswer(row: Row, error: string): Item[] {
  const text = row.content.slice(0, row.content.length - error.length).trimEnd();
  return [
    ...(text ? [answerText(row.id, text)] : []),
    { kind: 'note', id: `${row.id}-error`, tone: 'bad', text: error },
  ];
}

function missingNode(id: string, name: string): TreeNode {
  return { id, parent_id: null, name, args_preview: '', result_preview: '', is_error: true, duration_ms: 0 };
}

function callOf(node: TreeNode, children: Map<string | null, TreeNode[]>): Call {
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
    items: (children.get(node.id) ?? []).map((child) => callOf(child, children)),
  };
}
