// The reducer of a thread: frames in, state out. Frames in any batches give the same state, a stored frame that comes
// twice counts once, and earlier states stay as they were.

import { breachText, cutText, progressText } from '../run/words';
import { ThreadDraft } from './draft';
import { type Frame, isStored, type LiveFrame, type Mode, type StoredFrame } from './frame';
import { answerText } from './rows';
import type { ThreadState, Turn } from './state';
import {
  addNote,
  addPlan,
  appendChunk,
  endCall,
  endTurn,
  findCall,
  itemsOf,
  removeText,
  resolveApproval,
  settleText,
  startCall,
} from './steps';
import { t } from '../words/t';

export function fold(state: ThreadState, frames: readonly Frame[]): ThreadState {
  const draft = new ThreadDraft(state);
  for (const frame of frames) {
    if (!isStored(frame)) {
      applyLive(draft, frame);
    } else if (frame.chat_seq >= draft.thread.next) {
      applyStored(draft, frame);
      draft.thread.next = frame.chat_seq + 1;
    }
  }
  return draft.thread;
}

function applyLive(draft: ThreadDraft, frame: LiveFrame): void {
  const turn = draft.turn(frame.turn_id);
  if (!turn) return;
  switch (frame.type) {
    case 'chunk':
      return appendChunk(turn, frame);
    case 'tool_progress': {
      const call = findCall(turn.items, frame.tool_call_id);
      if (call && !call.isOver) call.progress = progressText(frame);
      return;
    }
    default:
      frame satisfies never;
  }
}

function applyStored(draft: ThreadDraft, frame: StoredFrame): void {
  if (frame.type === 'message' && frame.role === 'user') {
    const { turn_id: id, at, content: message, attachments } = frame;
    const files = attachments?.length ? { attachments } : {};
    return draft.beginTurn({ id, at, message, ...files, isOver: false, items: [], approvals: [], clientCalls: [] });
  }
  const turn = draft.turn(frame.turn_id);
  // Rows know more of a turn whose first frame was not read here, or that is over.
  if (turn && !turn.isOver) applyToTurn(turn, frame);
}

const MODES: Record<Mode, string> = {
  plan: t('no effects'),
  default: t('asks before effects'),
  auto: t('acts without asking'),
};

// One case for each frame, in the order a turn goes through them.
function applyToTurn(turn: Turn, frame: StoredFrame): void {
  switch (frame.type) {
    case 'message':
      // The error has a frame of its own, and the text before it stays.
      if (frame.is_error) return;
      settleText(turn, null, frame.call_id, frame.content, frame.id);
      if (frame.truncated) turn.isCut = true;
      return;
    case 'turn_started':
      turn.model = frame.model;
      turn.mode = frame.permission_mode;
      return;
    case 'llm_started':
      itemsOf(turn, frame.parent_id).push({ ...answerText(frame.call_id, ''), isStreaming: true });
      return;
    case 'llm_completed':
      return settleText(turn, frame.parent_id, frame.call_id, frame.content, frame.call_id);
    case 'llm_voided':
      removeText(itemsOf(turn, frame.parent_id), frame.call_id);
      // After a last attempt the frames that follow say why it failed.
      if (frame.then !== 'give_up')
        addNote(itemsOf(turn, frame.parent_id), frame, 'warn', t('{message}; tries again', { message: frame.message }));
      return;
    case 'answer_truncated':
      // The final answer says so with its row, and a failed one with its error.
      if (frame.then === 'continue')
        addNote(itemsOf(turn, frame.parent_id), frame, 'warn', cutText(frame.then, frame.in_call ?? false));
      return;
    case 'answer_empty':
      if (frame.then === 'continue')
        addNote(itemsOf(turn, frame.parent_id), frame, 'warn', t('Empty answer; asked again'));
      return;
    case 'tool_call_update':
      return frame.status === 'start' ? startCall(turn, frame) : endCall(turn, frame);
    case 'tool_call':
      turn.clientCalls.push({ tool_call_id: frame.tool_call_id, name: frame.name, args: frame.args });
      return;
    case 'planning_update':
    case 'task_update':
      return addPlan(turn, frame);
    case 'tool_approval_request':
      turn.approvals.push(frame);
      return;
    case 'tool_approval_resolved':
      return resolveApproval(turn, frame);
    case 'grant_withdrawn':
      return addNote(turn.items, frame, 'plain', t('{by} revoked what was allowed in this chat', { by: frame.by }));
    case 'permission_mode_changed':
      turn.mode = frame.permission_mode;
      return addNote(
        turn.items,
        frame,
        'plain',
        t('{by} changed the mode: {value}', { by: frame.by, value: MODES[frame.permission_mode] }),
      );
    case 'budget_exceeded':
      return addNote(turn.items, frame, 'bad', breachText(frame));
    case 'error':
      return addNote(turn.items, frame, 'bad', frame.message);
    case 'turn_stopped':
      turn.isStopped = true;
      return;
    case 'cost_summary':
      turn.cost = frame;
      return;
    case 'chunk':
      endTurn(turn);
      // The text written before the stop comes after it, and is shown before it.
      if (turn.isStopped) addNote(turn.items, frame, 'plain', t('Stopped'));
      return;
    // Frames a turn has in common with a run; a thread shows none of them.
    case 'belt_composed':
    case 'expression_evaluated':
    case 'task_started':
    case 'task_input':
    case 'task_completed':
    case 'task_failed':
    case 'task_skipped':
    case 'chore_started':
    case 'reflection_started':
    case 'llm_iteration_started':
    case 'llm_iteration_completed':
    case 'model_retried':
    case 'model_failed':
    case 'metrics_snapshot':
    case 'history_dropped':
    case 'output_rejected':
    case 'last_round':
    case 'loop_noticed':
    case 'finish_demanded':
    case 'call_charged':
    case 'tool_dispatched':
    case 'file_changed':
    case 'subtask_started':
    case 'delegation_started':
    case 'delegation_completed':
    case 'delegation_failed':
    case 'review_requested':
    case 'review_decided':
    case 'review_timed_out':
    case 'review_closed':
    case 'directive_active':
    case 'directive_delivered':
    case 'model_switched':
    case 'cancel_requested':
    case 'run_paused':
    case 'run_resumed':
    case 'budget_raised':
    case 'turn_adopted':
      return;
    default:
      // A frame of a newer server; the compiler knows all of this one's.
      frame satisfies never;
  }
}
