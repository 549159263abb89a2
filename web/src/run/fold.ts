// The one reducer: frames in, state out. Folding a batch copies what it touches once, so that earlier states stay as
// they were; folding the same frames in any batches gives the same state, and an event that comes twice counts once.

import { type Frame, isInherited, isStored, type StoredFrame, type TokenFrame } from './frame';
import { Draft } from './draft';
import {
  answered,
  asked,
  called,
  charged,
  closed,
  delegated,
  delivered,
  dispatched,
  ended,
  endTurn,
  failed,
  given,
  manager,
  measured,
  opened,
  progressed,
  retried,
  say,
  startTurn,
  taskOf,
} from './steps';
import { breachText, choreText, cutText, decisionText, stopText, timeoutText } from './words';
import type { Directive, RunState } from './state';

/** Characters of an answer surely kept while it streams; the whole comes with the event that ends it. */
const STREAMING_MAX = 64_000;

export function fold(state: RunState, frames: readonly Frame[]): RunState {
  const draft = new Draft(state);
  for (const frame of frames) {
    if (!isStored(frame)) {
      if (frame.type === 'token') token(draft, frame);
      if (frame.type === 'tool_progress') progressed(draft, frame);
    } else if (frame.seq >= draft.run.next) {
      if (isInherited(frame)) inherit(draft, frame);
      else apply(draft, frame);
      draft.run.at = frame.at;
      draft.run.next = frame.seq + 1;
    }
  }
  return draft.run;
}

/** What was copied tells what was said and done; of this run's tasks, clock and counts it says nothing. */
function inherit(draft: Draft, frame: StoredFrame): void {
  const own = { ...draft.run };
  apply(draft, frame);
  const { turns, reviews, directives, notes } = draft.run;
  Object.assign(draft.run, own, { turns, reviews, directives, notes });
}

/** What is under way where a run was made of another counts anew. */
function recount(draft: Draft): void {
  const underWay = [...draft.run.turns.values()].filter(({ phase }) => phase.is !== 'over');
  for (const { id } of underWay) {
    const turn = draft.turn(id);
    if (turn) Object.assign(turn, { inputTokens: 0, outputTokens: 0, costUsd: 0 });
  }
}

/** Notes that words may have been missed: what is being said now began before, or between, this page's connections. */
export function interrupted(state: RunState): RunState {
  const draft = new Draft(state);
  for (const { id, phase } of state.turns.values()) {
    const round = phase.is === 'asking' || phase.is === 'answering' ? draft.round(draft.turn(id)) : undefined;
    if (round) Object.assign(round, { isPartial: true, streaming: '' });
  }
  return draft.run;
}

function token(draft: Draft, { turnId, token, sentAt }: TokenFrame): void {
  const turn = draft.turn(turnId);
  const round = draft.round(turn);
  if (!turn || !round || round.endedAt) return;
  round.streaming += token;
  // Cut rarely: each cut copies what is kept.
  if (round.streaming.length > 2 * STREAMING_MAX) round.streaming = round.streaming.slice(-STREAMING_MAX);
  if (turn.phase.is === 'asking') turn.phase = { is: 'answering', since: sentAt, model: round.model };
}

// One case for each frame, in the order a run goes through them.
function apply(draft: Draft, frame: StoredFrame): void {
  const { run } = draft;
  const { at } = frame;
  switch (frame.type) {
    case 'run_accepted':
      // The server's fold knows this and more.
      if (frame.seq < run.counted) return;
      run.ensemble = frame.ensemble;
      run.workflow = frame.workflow;
      run.acceptedAt = at;
      draft.setTasks(
        frame.tasks.map(({ taskIndex, name, agentRole, context }) => ({
          index: taskIndex,
          name,
          role: agentRole,
          context,
          status: 'PENDING',
          tokens: 0,
          toolCalls: 0,
        })),
      );
      return;
    case 'run_forked':
      recount(draft);
      draft.note(
        frame,
        'plain',
        frame.forkedFrom
          ? `Forked from ${frame.forkedFrom.runId} at its event ${frame.forkedFrom.seq}`
          : `Retries ${frame.retryOf ?? 'a run'}`,
      );
      return;
    case 'run_adopted':
      if (frame.epoch > 1) draft.note(frame, 'warn', 'The server restarted; the run went on from its record');
      return;
    case 'ensemble_started':
      run.status = 'RUNNING';
      run.startedAt = at;
      return;
    case 'task_started': {
      const task = draft.task(taskOf(frame.turnId)) ?? manager(draft, frame);
      if (task) Object.assign(task, { status: 'RUNNING', startedAt: at, description: frame.taskDescription });
      startTurn(draft, frame, frame.turnId, frame.taskName ?? frame.taskDescription);
      return;
    }
    case 'task_input': {
      const turn = draft.turn(frame.turnId);
      if (turn) Object.assign(turn, { tools: frame.toolNames, prompt: frame.assembledContext });
      return;
    }
    case 'belt_composed': {
      const turn = draft.turn(frame.turnId);
      if (turn) turn.tools = frame.toolNames;
      return;
    }
    case 'chore_started': {
      const item = { kind: 'chore' as const, seq: frame.seq, startedAt: at, text: choreText(frame.chore), calls: [] };
      draft.turn(frame.turnId)?.items.push(item);
      return;
    }
    case 'reflection_started':
      return say(draft, frame, 'plain', 'Reflects on what it did');
    case 'llm_iteration_started':
      return asked(draft, frame);
    case 'model_retried':
      return retried(draft, frame);
    case 'llm_iteration_completed':
      return answered(draft, frame);
    case 'metrics_snapshot':
      return measured(draft, frame);
    case 'model_failed':
      return failed(draft, frame);
    case 'history_dropped':
      return say(draft, frame, 'warn', `Forgot ${frame.exchanges} older exchanges to fit the model's context`);
    case 'output_rejected': {
      const round = draft.round(draft.turn(frame.turnId));
      if (round) round.violations = frame.violations;
      return say(draft, frame, 'warn', 'The answer breaks its schema and was sent back', frame.violations.join('\n'));
    }
    case 'answer_truncated':
      return say(draft, { ...frame, turnId: frame.turnId ?? '' }, 'warn', cutText(frame.then, frame.inCall ?? false));
    case 'answer_empty':
      return say(
        draft,
        { ...frame, turnId: frame.turnId ?? '' },
        'warn',
        frame.then === 'continue' ? 'Said nothing; asked again' : 'Said nothing',
      );
    case 'last_round':
      return say(draft, frame, 'warn', 'Last permitted round: no tools, an answer is asked for');
    case 'finish_demanded':
      return say(draft, frame, 'warn', 'Answered without finishing its subtask; asked to finish it');
    case 'loop_noticed':
      return say(draft, frame, 'warn', `Asked ${frame.toolName} the same thing ${frame.times} times`);
    case 'tool_dispatched':
      dispatched(draft, frame);
      return;
    case 'subtask_started': {
      const call = dispatched(draft, { ...frame, toolName: 'run_subtask', toolArguments: '' });
      if (call) call.isTurn = true;
      const turn = startTurn(draft, frame, frame.callId, frame.title);
      turn.prompt = frame.instructions;
      turn.tools = frame.toolNames;
      return;
    }
    case 'delegation_started':
      return delegated(draft, frame);
    case 'delegation_completed':
    case 'delegation_failed':
      return delivered(draft, frame);
    case 'call_charged':
      return charged(draft, frame);
    case 'tool_called':
      return called(draft, frame);
    case 'review_requested':
      return opened(draft, frame);
    case 'review_decided':
      return closed(draft, frame, decisionText(frame.decision, frame.by), frame.feedback ?? frame.revisedOutput);
    case 'review_timed_out':
      return closed(draft, frame, `Nobody decided in time: ${timeoutText(frame.action)}`);
    case 'review_closed':
      return closed(draft, frame, 'Closed without a decision');
    case 'task_completed': {
      const task = draft.task(taskOf(frame.turnId));
      const { tokenCount: tokens, toolCallCount: toolCalls, output, parsedOutput: parsed, truncated: isCut } = frame;
      if (task)
        Object.assign(task, given({ status: 'COMPLETED', endedAt: at, tokens, toolCalls, output, parsed, isCut }));
      return endTurn(draft, frame.turnId, at);
    }
    case 'task_failed': {
      const task = draft.task(taskOf(frame.turnId));
      const status = frame.cancelled ? 'CANCELLED' : 'FAILED';
      if (task) Object.assign(task, given({ status, endedAt: at, error: frame.reason, partial: frame.partialOutput }));
      say(
        draft,
        frame,
        frame.cancelled ? 'plain' : 'bad',
        frame.cancelled ? 'Cancelled' : 'Failed',
        frame.cancelled ? undefined : frame.reason,
      );
      return endTurn(draft, frame.turnId, at);
    }
    case 'task_skipped': {
      const task = draft.task(taskOf(frame.turnId));
      if (task) Object.assign(task, { status: 'SKIPPED', endedAt: at, error: frame.reason });
      return;
    }
    case 'directive_active': {
      const { directiveId: id, seq, from, content, target, priority } = frame;
      draft.directives().set(id, given<Directive>({ id, seq, at, from, content, target, priority, deliveredTo: [] }));
      draft.note(frame, 'plain', `${from} told ${target ?? 'every task'}: ${content}`);
      return;
    }
    case 'directive_delivered': {
      const known = draft.run.directives.get(frame.directiveId);
      const { taskIndex, iterationIndex } = frame;
      if (known)
        draft
          .directives()
          .set(known.id, { ...known, deliveredTo: [...known.deliveredTo, { taskIndex, iterationIndex }] });
      return;
    }
    case 'model_switched':
      if (frame.model !== null) run.model = frame.model;
      draft.note(
        frame,
        'plain',
        `${frame.by} switched the model from ${frame.previousModel} to ${frame.model ?? 'its own'}`,
      );
      return;
    case 'cancel_requested':
      run.cancel = frame.mode;
      draft.note(frame, 'warn', `${frame.by} asked to stop ${stopText(frame.mode)}`);
      return;
    case 'run_paused':
      run.paused = true;
      draft.note(frame, 'plain', `${frame.by} paused the run`);
      return;
    case 'run_resumed':
      run.paused = false;
      draft.note(frame, 'plain', `${frame.by} resumed the run`);
      return;
    case 'budget_exceeded': {
      const { reason, limit, observed } = frame;
      run.breach = { reason, limit, observed };
      draft.note(frame, 'bad', breachText(run.breach));
      return;
    }
    case 'file_changed':
      return say(
        draft,
        frame,
        'plain',
        `${frame.changeType.toLowerCase()} ${frame.filePath}`,
        `+${frame.linesAdded} −${frame.linesRemoved}`,
      );
    case 'ensemble_completed':
      return ended(draft, frame);
    default:
      // Of a newer server; the compiler knows all of this one's.
      frame satisfies never;
  }
}
