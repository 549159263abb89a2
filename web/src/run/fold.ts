// The reducer of a run: frames in, state out. Frames in any batches give the same state, a stored frame that comes
// twice counts once, and earlier states stay as they were.

import { RunDraft } from './draft';
import { type Frame, isInherited, isStored, type LiveFrame, type StoredFrame } from './frame';
import type { RunState } from './state';
import {
  addDirective,
  addNote,
  appendToken,
  chargeCall,
  closeReview,
  completeRound,
  deliverDirective,
  endCall,
  endDelegation,
  endRun,
  failRound,
  openReview,
  recordUsage,
  rejectOutput,
  retryRound,
  startCall,
  startDelegation,
  startRound,
  startSubtask,
  updateProgress,
} from './steps';
import { acceptRun, completeTask, editOutputs, failTask, skipTask, startTask } from './tasks';
import { breachText, choreText, cutText, decisionText, evaluatedText, forkText, stopText, timeoutText } from './words';
import { t } from '../words/t';

export function fold(state: RunState, frames: readonly Frame[]): RunState {
  const draft = new RunDraft(state);
  for (const frame of frames) {
    if (!isStored(frame)) {
      applyLive(draft, frame);
    } else if (frame.seq >= draft.run.next) {
      if (isInherited(frame)) applyInherited(draft, frame);
      else applyStored(draft, frame);
      draft.run.at = frame.at;
      draft.run.next = frame.seq + 1;
    }
  }
  return draft.run;
}

function applyLive(draft: RunDraft, frame: LiveFrame): void {
  switch (frame.type) {
    case 'token':
      return appendToken(draft, frame);
    case 'tool_progress':
      return updateProgress(draft, frame);
    case 'run_result':
      // The events before it have said the same.
      return;
    default:
      frame satisfies never;
  }
}

/** An inherited frame adds to the conversations; it says nothing of this run's tasks, clock and counts. */
function applyInherited(draft: RunDraft, frame: StoredFrame): void {
  const own = { ...draft.run };
  applyStored(draft, frame);
  const { conversations, reviews, directives, notes } = draft.run;
  Object.assign(draft.run, own, { conversations, reviews, directives, notes });
}

/** Sets the usage of the conversations under way to 0: where a run is made of another, its own counts begin. */
function resetUsage(draft: RunDraft): void {
  const underWay = [...draft.run.conversations.values()].filter(({ phase }) => phase.kind !== 'over');
  for (const { id } of underWay) {
    const conversation = draft.conversation(id);
    if (conversation) Object.assign(conversation, { inputTokens: 0, outputTokens: 0, costUsd: 0 });
  }
}

/** Marks the texts being written as partial, until they come from their beginning on the new connection. */
export function interrupted(state: RunState): RunState {
  const draft = new RunDraft(state);
  for (const { id, phase } of state.conversations.values()) {
    const round =
      phase.kind === 'asking' || phase.kind === 'answering' ? draft.round(draft.conversation(id)) : undefined;
    if (round) Object.assign(round, { isPartial: true, streaming: '' });
  }
  return draft.run;
}

// One case for each frame, in the order a run goes through them.
function applyStored(draft: RunDraft, frame: StoredFrame): void {
  const { run } = draft;
  const { at } = frame;
  switch (frame.type) {
    case 'run_accepted':
      return acceptRun(draft, frame);
    case 'run_forked':
      resetUsage(draft);
      editOutputs(draft, frame);
      return draft.addNote(frame, 'plain', forkText(frame));
    case 'run_adopted':
      if (frame.epoch > 1) draft.addNote(frame, 'warn', t('The server restarted; the run went on from its record'));
      return;
    case 'ensemble_started':
      run.status = 'RUNNING';
      run.startedAt = at;
      return;
    case 'task_started':
      return startTask(draft, frame);
    case 'task_input': {
      const conversation = draft.conversation(frame.turnId);
      if (conversation) Object.assign(conversation, { tools: frame.toolNames, prompt: frame.assembledContext });
      return;
    }
    case 'expression_evaluated':
      return draft.addNote(frame, frame.error === undefined ? 'plain' : 'bad', evaluatedText(frame));
    case 'belt_composed': {
      const conversation = draft.conversation(frame.turnId);
      if (conversation) conversation.tools = frame.toolNames;
      return;
    }
    case 'chore_started': {
      const item = { kind: 'chore' as const, seq: frame.seq, startedAt: at, text: choreText(frame.chore), calls: [] };
      draft.conversation(frame.turnId)?.items.push(item);
      return;
    }
    case 'reflection_started':
      return addNote(draft, frame, 'plain', t('Reflects on what it did'));
    case 'llm_iteration_started':
      return startRound(draft, frame);
    case 'model_retried':
      return retryRound(draft, frame);
    case 'llm_iteration_completed':
      return completeRound(draft, frame);
    case 'metrics_snapshot':
      return recordUsage(draft, frame);
    case 'model_failed':
      return failRound(draft, frame);
    case 'history_dropped':
      return addNote(
        draft,
        frame,
        'warn',
        t("Forgot {exchanges} older exchanges to fit the model's context", { exchanges: frame.exchanges }),
      );
    case 'output_rejected':
      return rejectOutput(draft, frame);
    case 'answer_truncated':
      return addNote(draft, frame, 'warn', cutText(frame.then, frame.inCall ?? false));
    case 'answer_empty':
      return addNote(
        draft,
        frame,
        'warn',
        frame.then === 'continue' ? t('Empty answer; asked again') : t('Empty answer'),
      );
    case 'last_round':
      return addNote(draft, frame, 'warn', t('Last permitted round: no tools, an answer is asked for'));
    case 'finish_demanded':
      return addNote(draft, frame, 'warn', t('Answered without finishing its subtask; asked to finish it'));
    case 'loop_noticed':
      return addNote(
        draft,
        frame,
        'warn',
        t('Called {toolName} with the same arguments {times} times', { toolName: frame.toolName, times: frame.times }),
      );
    case 'tool_dispatched':
      startCall(draft, frame);
      return;
    case 'subtask_started':
      return startSubtask(draft, frame);
    case 'delegation_started':
      return startDelegation(draft, frame);
    case 'delegation_completed':
    case 'delegation_failed':
      return endDelegation(draft, frame);
    case 'call_charged':
      return chargeCall(draft, frame);
    case 'tool_called':
      return endCall(draft, frame);
    case 'review_requested':
      return openReview(draft, frame);
    case 'review_decided':
      return closeReview(draft, frame, decisionText(frame.decision, frame.by), frame.feedback ?? frame.revisedOutput);
    case 'review_timed_out':
      return closeReview(draft, frame, t('Nobody decided in time: {then}', { then: timeoutText(frame.action) }));
    case 'review_closed':
      return closeReview(draft, frame, t('Closed without a decision'));
    case 'task_completed':
      return completeTask(draft, frame);
    case 'task_failed':
      return failTask(draft, frame);
    case 'task_skipped':
      return skipTask(draft, frame);
    case 'directive_active':
      return addDirective(draft, frame);
    case 'directive_delivered':
      return deliverDirective(draft, frame);
    case 'model_switched':
      if (frame.model !== undefined) run.model = frame.model;
      return draft.addNote(
        frame,
        'plain',
        t('{by} switched the model from {before} to {model}', {
          by: frame.by,
          before: frame.previousModel,
          model: frame.model ?? t('its own'),
        }),
      );
    case 'cancel_requested':
      run.cancel = frame.mode;
      return draft.addNote(frame, 'warn', t('{by} asked to stop {when}', { by: frame.by, when: stopText(frame.mode) }));
    case 'run_paused':
      run.paused = true;
      return draft.addNote(frame, 'plain', t('{by} paused the run', { by: frame.by }));
    case 'run_resumed':
      run.paused = false;
      return draft.addNote(frame, 'plain', t('{by} resumed the run', { by: frame.by }));
    case 'budget_raised':
      return draft.addNote(frame, 'plain', t('{by} raised the budget', { by: frame.by }));
    case 'budget_exceeded': {
      const { reason, limit, observed } = frame;
      run.breach = { reason, limit, observed };
      return draft.addNote(frame, 'bad', breachText(run.breach));
    }
    case 'file_changed':
      return addNote(
        draft,
        frame,
        'plain',
        `${frame.changeType.toLowerCase()} ${frame.filePath}`,
        `+${frame.linesAdded} −${frame.linesRemoved}`,
      );
    case 'ensemble_completed':
      return endRun(draft, frame);
    default:
      // A frame of a newer server; the compiler knows all of this one's.
      frame satisfies never;
  }
}
