// What single frames do to a run: the larger steps of the fold.

import type { Review } from '../api/types';
import type { Draft } from './draft';
import type { Of, ProgressFrame, StoredFrame } from './frame';
import type { Call, Task, Tone, Turn } from './state';
import { progressText } from './words';

/** The number of the task a turn belongs to; a manager's comes after all others. */
export function taskOf(turnId: string): number {
  return Number(turnId.split('.')[0]);
}

/** The turn that made the call of this id; none for a task. */
function parentOf(id: string): string | undefined {
  return id.split('.').slice(0, -2).join('.') || undefined;
}

export function startTurn(draft: Draft, frame: { at: string; agentRole: string }, id: string, title: string): Turn {
  const { at, agentRole: role } = frame;
  return draft.addTurn(
    given<Turn>({
      id,
      parent: parentOf(id),
      taskIndex: taskOf(id),
      title,
      role,
      startedAt: at,
      endedAt: undefined,
      tools: [],
      prompt: undefined,
      items: [],
      told: 0,
      phase: { is: 'starting', since: at },
      inputTokens: 0,
      outputTokens: 0,
      costUsd: undefined,
    }),
  );
}

/** The manager of a hierarchical run is not one of its declared tasks. */
export function manager(
  draft: Draft,
  { agentRole, taskName }: { agentRole: string; taskName?: string | null },
): Task | undefined {
  if (draft.run.workflow !== 'HIERARCHICAL') return undefined;
  const index = draft.run.tasks.length + 1;
  return draft.addTask({
    index,
    name: taskName ?? agentRole,
    role: agentRole,
    context: [],
    status: 'RUNNING',
    tokens: 0,
    toolCalls: 0,
    isManager: true,
  });
}

/** A turn that began before the first event folded here. */
function joined(draft: Draft, frame: Of<'llm_iteration_started'>): Turn {
  const turn = startTurn(draft, frame, frame.turnId, frame.taskDescription);
  turn.told = Math.max(0, frame.totalMessageCount - frame.messages.length);
  turn.isJoined = true;
  return turn;
}

export function delegated(draft: Draft, frame: Of<'delegation_started'>): void {
  const { delegationId: id, seq, at, workerRole, taskDescription } = frame;
  const parent = parentOf(id) ?? '';
  const call = dispatched(draft, {
    ...frame,
    seq,
    at,
    turnId: parent,
    callId: id,
    toolName: `delegate to ${workerRole}`,
    toolArguments: '',
  });
  if (call) call.isTurn = true;
  startTurn(draft, { at, agentRole: workerRole }, id, taskDescription);
  const worker = workerOf(draft, workerRole);
  if (worker)
    Object.assign(worker, { status: 'RUNNING', startedAt: worker.startedAt ?? at, description: taskDescription });
}

export function delivered(draft: Draft, frame: Of<'delegation_completed' | 'delegation_failed'>): void {
  endTurn(draft, frame.delegationId, frame.at);
  const worker = workerOf(draft, frame.workerRole);
  if (!worker) return;
  const turn = draft.run.turns.get(frame.delegationId);
  if (draft.totals(frame)) worker.tokens += (turn?.inputTokens ?? 0) + (turn?.outputTokens ?? 0);
  worker.endedAt = frame.at;
  worker.status = frame.type === 'delegation_completed' ? 'COMPLETED' : 'FAILED';
  if (frame.type === 'delegation_failed') worker.error = frame.reason;
  const answer = turn?.items.findLast((item) => item.kind === 'round')?.text;
  if (answer !== undefined) worker.output = answer;
}

function workerOf(draft: Draft, role: string): Task | undefined {
  if (draft.run.workflow !== 'HIERARCHICAL') return undefined;
  return draft.task(draft.run.tasks.find((task) => task.role === role && !task.isManager)?.index ?? 0);
}

export function endTurn(draft: Draft, id: string, at: string): void {
  const turn = draft.turn(id);
  if (turn) Object.assign(turn, { endedAt: at, phase: { is: 'over' } });
}

export function say(
  draft: Draft,
  frame: StoredFrame & { turnId: string },
  tone: Tone,
  text: string,
  detail?: string,
): void {
  const turn = draft.turn(frame.turnId);
  turn?.items.push(given({ kind: 'note' as const, seq: frame.seq, at: frame.at, tone, text, detail }));
}

export function asked(draft: Draft, frame: Of<'llm_iteration_started'>): void {
  const turn = draft.turn(frame.turnId) ?? joined(draft, frame);
  if (!draft.task(turn.taskIndex)) manager(draft, frame);
  const { seq, at, model, iterationIndex: index, messages, totalMessageCount: total } = frame;
  const fresh = total < turn.told ? messages : messages.slice(Math.max(0, messages.length - (total - turn.told)));
  const sent = fresh.filter(({ role }) => role === 'system' || role === 'user');
  turn.told = total;
  turn.phase = { is: 'asking', since: at, model };
  turn.items.push({
    kind: 'round',
    seq,
    index,
    model,
    startedAt: at,
    sent,
    streaming: '',
    calls: [],
    inputTokens: 0,
    outputTokens: 0,
    failures: [],
  });
  const task = draft.task(turn.taskIndex);
  if (task && !turn.parent) Object.assign(task, { model, description: frame.taskDescription });
  const totals = draft.totals(frame);
  if (totals) totals.modelCalls += 1;
}

export function answered(draft: Draft, frame: Of<'llm_iteration_completed'>): void {
  const turn = draft.turn(frame.turnId);
  const round = draft.round(turn);
  if (turn) turn.phase = { is: 'between', since: frame.at };
  if (!round) return;
  round.endedAt = frame.at;
  round.streaming = '';
  if (typeof frame.responseText === 'string') round.text = frame.responseText;
  round.inputTokens = frame.inputTokens;
  round.outputTokens = frame.outputTokens;
  round.latencyMs = frame.latencyMs;
}

export function measured(draft: Draft, frame: Of<'metrics_snapshot'>): void {
  const turn = draft.turn(frame.turnId);
  const cost = typeof frame.costEstimate === 'string' ? Number(frame.costEstimate) : undefined;
  const before = { input: turn?.inputTokens ?? 0, output: turn?.outputTokens ?? 0, cost: turn?.costUsd ?? 0 };
  const totals = draft.totals(frame);
  if (totals) {
    totals.unknownTokens ||= frame.inputTokens < 0;
    totals.inputTokens += Math.max(0, frame.inputTokens - before.input);
    totals.outputTokens += Math.max(0, frame.outputTokens - before.output);
    if (cost === undefined) totals.unpriced = true;
    else totals.costUsd += Math.max(0, cost - before.cost);
  }
  if (!turn) return;
  turn.inputTokens = Math.max(0, frame.inputTokens);
  turn.outputTokens = Math.max(0, frame.outputTokens);
  if (cost !== undefined) turn.costUsd = cost;
  const task = draft.task(turn.taskIndex);
  if (task && !turn.parent) task.tokens = turn.inputTokens + turn.outputTokens;
}

export function failed(draft: Draft, frame: Of<'model_failed'>): void {
  const { seq, at, error, message, then } = frame;
  const turn = draft.turn(frame.turnId);
  const round = draft.round(turn);
  const what = {
    retry: 'tries again',
    fallback: then.action === 'fallback' ? `asks ${then.model} instead` : '',
    shorten: 'shortens the conversation',
    give_up: 'gives up',
  }[then.action];
  round?.failures.push({ seq, at, error, message, then: what });
  if (round) {
    round.streaming = '';
    if (then.action !== 'retry') round.endedAt = at;
  }
  if (!turn) return;
  turn.phase =
    then.action === 'retry'
      ? given({ is: 'retrying' as const, since: at, at: then.at, model: round?.model, message })
      : { is: 'between', since: at };
}

export function retried(draft: Draft, { turnId, at }: Of<'model_retried'>): void {
  const turn = draft.turn(turnId);
  const round = draft.round(turn);
  if (!turn || !round) return;
  const last = round.failures.pop();
  if (last) round.failures.push({ ...last, retriedAt: at });
  round.streaming = '';
  turn.phase = { is: 'asking', since: at, model: round.model };
}

export function dispatched(
  draft: Draft,
  frame: {
    seq: number;
    at: string;
    turnId: string;
    callId: string;
    toolName: string;
    toolArguments: string;
  } & StoredFrame,
): Call | undefined {
  const turn = draft.turn(frame.turnId);
  const totals = draft.totals(frame);
  if (totals) totals.toolCalls += 1;
  if (!turn) return undefined;
  const task = draft.task(turn.taskIndex);
  if (totals && task && !turn.parent) task.toolCalls += 1;
  const running = turn.phase.is === 'tools' ? turn.phase.running + 1 : 1;
  turn.phase = { is: 'tools', since: frame.at, running, last: frame.toolName };
  const work = draft.work(turn);
  if (!work) return undefined;
  const call: Call = {
    id: frame.callId,
    seq: frame.seq,
    tool: frame.toolName,
    args: frame.toolArguments,
    startedAt: frame.at,
    isTurn: false,
  };
  const again = work.calls.findIndex(({ id }) => id === call.id);
  if (again >= 0) work.calls[again] = call;
  else work.calls.push(call);
  return call;
}

/** What another ensemble used for a call; the next count of its turn has it in it. */
export function charged(draft: Draft, { turnId, callId, tokens, cost }: Of<'call_charged'>): void {
  const call = draft.call(draft.turn(turnId), callId);
  if (call) call.charged = { tokens, costUsd: cost };
}

/** How far it is, as whoever does it says. */
export function progressed(draft: Draft, frame: ProgressFrame): void {
  const call = draft.call(draft.turn(frame.turnId), frame.callId);
  if (call && !call.endedAt) call.progress = progressText(frame);
}

export function called(draft: Draft, frame: Of<'tool_called'>): void {
  const turn = draft.turn(frame.turnId);
  let call = draft.call(turn, frame.callId);
  const work = draft.work(turn);
  if (!call && work) {
    // Answered without having been done: refused, or by a person. Or it began before the first event folded here.
    const startedAt = new Date(Date.parse(frame.at) - frame.durationMs).toISOString();
    call = {
      id: frame.callId,
      seq: frame.seq,
      tool: frame.toolName,
      args: frame.toolArguments,
      startedAt,
      isTurn: false,
    };
    work.calls.push(call);
  }
  if (call) {
    const { durationMs, outcome, toolResult: result, structuredResult: data } = frame;
    Object.assign(
      call,
      given({ tool: frame.toolName, args: frame.toolArguments, endedAt: frame.at, durationMs, outcome, result, data }),
    );
  }
  endTurn(draft, frame.callId, frame.at);
  if (turn?.phase.is === 'tools') {
    const running = turn.phase.running - 1;
    turn.phase = running > 0 ? { ...turn.phase, running } : { is: 'between', since: frame.at };
  }
}

export function opened(draft: Draft, frame: Of<'review_requested'>): void {
  const { type: _type, seq, at, ...told } = frame;
  const review = given<Review>({ ...told, taskName: told.taskName ?? told.taskDescription });
  draft.reviews().set(frame.reviewId, review);
  const turn = whose(draft, frame.turnId);
  turn?.items.push({ kind: 'gate', seq, reviewId: frame.reviewId, review });
  if (turn) turn.phase = { is: 'reviewing', since: at };
  const task = draft.task(turn?.taskIndex ?? frame.taskIndex);
  if (task && !task.endedAt) task.status = 'WAITING';
}

/** The turn of that id, or the one that made the call of that id. */
function whose(draft: Draft, id: string): Turn | undefined {
  return draft.turn(id) ?? draft.turn(id.split('.').slice(0, -2).join('.')) ?? draft.turn(id.split('.')[0] ?? '');
}

export function closed(
  draft: Draft,
  frame: StoredFrame & { reviewId: string },
  text: string,
  detail?: string | null,
): void {
  const review = draft.run.reviews.get(frame.reviewId);
  if (!review) return;
  draft.reviews().delete(frame.reviewId);
  const turn = whose(draft, review.turnId);
  const task = draft.task(turn?.taskIndex ?? review.taskIndex);
  if (task?.status === 'WAITING') task.status = task.startedAt ? 'RUNNING' : 'PENDING';
  const gate = draft.gate(turn, frame.reviewId);
  if (gate) gate.outcome = given({ seq: frame.seq, at: frame.at, text, detail });
  if (turn?.phase.is === 'reviewing') turn.phase = { is: 'between', since: frame.at };
}

export function ended(draft: Draft, frame: Of<'ensemble_completed'>): void {
  const { run } = draft;
  run.endedAt = frame.at;
  run.exitReason = frame.exitReason;
  run.status = frame.exitReason === 'CANCELLED' ? 'CANCELLED' : frame.error === undefined ? 'COMPLETED' : 'FAILED';
  if (frame.error !== undefined) run.error = frame.error;
  for (const { index, status } of run.tasks) {
    const task = status === 'PENDING' ? draft.task(index) : undefined;
    if (task) task.status = run.status === 'CANCELLED' ? 'CANCELLED' : 'SKIPPED';
  }
}

/** The same value without what is not there. */
export function given<T extends object>(value: { [K in keyof T]: T[K] | undefined | null }): T {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined && field !== null)) as T;
}
