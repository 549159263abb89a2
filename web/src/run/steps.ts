// The larger steps of the fold: what single frames do to a run.

import type { Review } from '../api/types';
import { definedFields } from './defined';
import type { RunDraft } from './draft';
import type { Of, ProgressFrame, StoredFrame, TokenFrame } from './frame';
import { isInstance, parentId, taskNumber } from './ids';
import { taskOf, workerTask } from './manager';
import type { Call, Conversation, Directive, Round, Tone } from './state';
import { progressText } from './words';
import { t } from '../words/t';

/** Characters of a text kept while it is written; the whole comes with the event that ends it. */
const STREAMING_MAX = 64_000;

export function startSubtask(draft: RunDraft, frame: Of<'subtask_started'>): void {
  const call = startCall(draft, { ...frame, toolName: 'run_subtask', toolArguments: '' });
  if (call) call.isConversation = true;
  const conversation = startConversation(draft, frame, frame.callId, frame.title);
  conversation.prompt = frame.instructions;
  conversation.tools = frame.toolNames;
}

export function addDirective(draft: RunDraft, frame: Of<'directive_active'>): void {
  const { directiveId: id, seq, at, from, content, target, priority } = frame;
  const directive = definedFields<Directive>({ id, seq, at, from, content, target, priority, deliveredTo: [] });
  draft.directives().set(id, directive);
  draft.addNote(
    frame,
    'plain',
    t('{from} told {target}: {content}', { from, target: target ?? t('every task'), content }),
  );
}

export function deliverDirective(draft: RunDraft, frame: Of<'directive_delivered'>): void {
  const known = draft.run.directives.get(frame.directiveId);
  if (!known) return;
  const { taskIndex, iterationIndex } = frame;
  draft.directives().set(known.id, { ...known, deliveredTo: [...known.deliveredTo, { taskIndex, iterationIndex }] });
}

export function rejectOutput(draft: RunDraft, frame: Of<'output_rejected'>): void {
  const round = draft.round(draft.conversation(frame.turnId));
  if (round) round.violations = frame.violations;
  const text = t('The answer breaks its schema and was sent back');
  addNote(draft, frame, 'warn', text, frame.violations.join('\n'));
}

export function appendToken(draft: RunDraft, { turnId, token, offset, sentAt }: TokenFrame): void {
  const conversation = draft.conversation(turnId);
  const round = draft.round(conversation);
  if (!conversation || !round || round.endedAt) return;
  if (round.streaming === '' && !round.isPartial) round.firstWordMs ??= Date.parse(sentAt) - triedAt(round);
  if (offset === 0) {
    // From the beginning, also where this page came later.
    delete round.isPartial;
    round.streaming = token;
  } else round.streaming += token;
  // Cut rarely: each cut copies what is kept.
  if (round.streaming.length > 2 * STREAMING_MAX) round.streaming = round.streaming.slice(-STREAMING_MAX);
  if (conversation.phase.kind === 'asking')
    conversation.phase = { kind: 'answering', since: sentAt, model: round.model };
}

/** The time its latest attempt began. */
function triedAt({ startedAt, failures }: Round): number {
  return Date.parse(failures.at(-1)?.retriedAt ?? startedAt);
}

export function startConversation(
  draft: RunDraft,
  frame: { at: string; agentRole: string },
  id: string,
  title: string,
): Conversation {
  const { at, agentRole: role } = frame;
  return draft.addConversation(
    definedFields<Conversation>({
      id,
      parent: parentId(id),
      taskIndex: taskNumber(id),
      title,
      role,
      startedAt: at,
      endedAt: undefined,
      tools: [],
      prompt: undefined,
      items: [],
      messageCount: 0,
      phase: { kind: 'starting', since: at },
      inputTokens: 0,
      outputTokens: 0,
      costUsd: undefined,
    }),
  );
}

/** Starts a conversation that began before the first event folded here. */
function joinConversation(draft: RunDraft, frame: Of<'llm_iteration_started'>): Conversation {
  const conversation = startConversation(draft, frame, frame.turnId, frame.taskDescription);
  conversation.messageCount = Math.max(0, frame.totalMessageCount - frame.messages.length);
  conversation.isJoined = true;
  return conversation;
}

export function startDelegation(draft: RunDraft, frame: Of<'delegation_started'>): void {
  const { delegationId: id, seq, at, workerRole, taskDescription } = frame;
  const parent = parentId(id) ?? '';
  const call = startCall(draft, {
    ...frame,
    seq,
    at,
    turnId: parent,
    callId: id,
    toolName: t('delegate to {workerRole}', { workerRole }),
    toolArguments: '',
  });
  if (call) call.isConversation = true;
  startConversation(draft, { at, agentRole: workerRole }, id, taskDescription);
  const worker = workerTask(draft, workerRole);
  if (worker)
    Object.assign(worker, { status: 'RUNNING', startedAt: worker.startedAt ?? at, description: taskDescription });
}

export function endDelegation(draft: RunDraft, frame: Of<'delegation_completed' | 'delegation_failed'>): void {
  endConversation(draft, frame.delegationId, frame.at);
  const worker = workerTask(draft, frame.workerRole);
  if (!worker) return;
  const conversation = draft.run.conversations.get(frame.delegationId);
  if (draft.totals(frame)) worker.tokens += (conversation?.inputTokens ?? 0) + (conversation?.outputTokens ?? 0);
  worker.endedAt = frame.at;
  worker.status = frame.type === 'delegation_completed' ? 'COMPLETED' : 'FAILED';
  if (frame.type === 'delegation_failed') worker.error = frame.reason;
  const answer = conversation?.items.findLast((item) => item.kind === 'round')?.text;
  if (answer !== undefined) worker.output = answer;
}

export function endConversation(draft: RunDraft, id: string, at: string): void {
  const conversation = draft.conversation(id);
  if (conversation) Object.assign(conversation, { endedAt: at, phase: { kind: 'over' } });
}

export function addNote(
  draft: RunDraft,
  frame: StoredFrame & { turnId?: string },
  tone: Tone,
  text: string,
  detail?: string,
): void {
  const conversation = frame.turnId === undefined ? undefined : draft.conversation(frame.turnId);
  conversation?.items.push(definedFields({ kind: 'note' as const, seq: frame.seq, at: frame.at, tone, text, detail }));
}

export function startRound(draft: RunDraft, frame: Of<'llm_iteration_started'>): void {
  const conversation = draft.conversation(frame.turnId) ?? joinConversation(draft, frame);
  const task = taskOf(draft, frame);
  const { seq, at, model, iterationIndex: index, messages, totalMessageCount: total } = frame;
  const fresh =
    total < conversation.messageCount
      ? messages
      : messages.slice(Math.max(0, messages.length - (total - conversation.messageCount)));
  const sent = fresh.filter(({ role }) => role === 'system' || role === 'user');
  conversation.messageCount = total;
  conversation.phase = { kind: 'asking', since: at, model };
  conversation.items.push({
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
  if (task && !conversation.parent) Object.assign(task, { model, description: frame.taskDescription });
  const totals = draft.totals(frame);
  if (totals) totals.modelCalls += 1;
}

export function completeRound(draft: RunDraft, frame: Of<'llm_iteration_completed'>): void {
  const conversation = draft.conversation(frame.turnId);
  const round = draft.round(conversation);
  if (conversation) conversation.phase = { kind: 'between', since: frame.at };
  if (!round) return;
  round.endedAt = frame.at;
  round.streaming = '';
  if (typeof frame.responseText === 'string') round.text = frame.responseText;
  round.inputTokens = frame.inputTokens;
  round.outputTokens = frame.outputTokens;
  round.latencyMs = frame.latencyMs;
}

export function recordUsage(draft: RunDraft, frame: Of<'metrics_snapshot'>): void {
  const conversation = draft.conversation(frame.turnId);
  const cost = typeof frame.costEstimate === 'string' ? Number(frame.costEstimate) : undefined;
  const before = {
    input: conversation?.inputTokens ?? 0,
    output: conversation?.outputTokens ?? 0,
    cost: conversation?.costUsd ?? 0,
  };
  const totals = draft.totals(frame);
  if (totals) {
    totals.unknownTokens ||= frame.inputTokens < 0;
    totals.inputTokens += Math.max(0, frame.inputTokens - before.input);
    totals.outputTokens += Math.max(0, frame.outputTokens - before.output);
    if (cost === undefined) totals.unpriced = true;
    else totals.costUsd += Math.max(0, cost - before.cost);
  }
  if (!conversation) return;
  conversation.inputTokens = Math.max(0, frame.inputTokens);
  conversation.outputTokens = Math.max(0, frame.outputTokens);
  if (cost !== undefined) conversation.costUsd = cost;
  const round = draft.round(conversation);
  if (round && cost !== undefined) round.costUsd = (round.costUsd ?? 0) + Math.max(0, cost - before.cost);
  const task = draft.task(conversation.taskIndex);
  if (task && !conversation.parent) task.tokens = conversation.inputTokens + conversation.outputTokens;
}

export function failRound(draft: RunDraft, frame: Of<'model_failed'>): void {
  const { seq, at, error, message, then } = frame;
  const conversation = draft.conversation(frame.turnId);
  const round = draft.round(conversation);
  const thenText = {
    retry: t('tries again'),
    fallback: then.action === 'fallback' ? t('asks {model} instead', { model: then.model }) : '',
    shorten: t('shortens the conversation'),
    give_up: t('gives up'),
  }[then.action];
  round?.failures.push({ seq, at, error, message, then: thenText });
  if (round) {
    round.streaming = '';
    if (then.action !== 'retry') round.endedAt = at;
  }
  if (!conversation) return;
  conversation.phase =
    then.action === 'retry'
      ? definedFields({ kind: 'retrying' as const, since: at, at: then.at, model: round?.model, message })
      : { kind: 'between', since: at };
}

export function retryRound(draft: RunDraft, { turnId, at }: Of<'model_retried'>): void {
  const conversation = draft.conversation(turnId);
  const round = draft.round(conversation);
  if (!conversation || !round) return;
  const last = round.failures.pop();
  if (last) round.failures.push({ ...last, retriedAt: at });
  round.streaming = '';
  delete round.firstWordMs;
  conversation.phase = { kind: 'asking', since: at, model: round.model };
}

export function startCall(
  draft: RunDraft,
  frame: {
    seq: number;
    at: string;
    turnId: string;
    callId: string;
    toolName: string;
    toolArguments: string;
  } & StoredFrame,
): Call | undefined {
  const conversation = draft.conversation(frame.turnId);
  const totals = draft.totals(frame);
  if (totals) totals.toolCalls += 1;
  if (!conversation) return undefined;
  const task = draft.task(conversation.taskIndex);
  if (totals && task && !conversation.parent) task.toolCalls += 1;
  const running = conversation.phase.kind === 'tools' ? conversation.phase.running + 1 : 1;
  conversation.phase = { kind: 'tools', since: frame.at, running, last: frame.toolName };
  const caller = draft.caller(conversation);
  if (!caller) return undefined;
  const call: Call = {
    id: frame.callId,
    seq: frame.seq,
    tool: frame.toolName,
    args: frame.toolArguments,
    startedAt: frame.at,
    isConversation: false,
  };
  const again = caller.calls.findIndex(({ id }) => id === call.id);
  if (again >= 0) caller.calls[again] = call;
  else caller.calls.push(call);
  return call;
}

/** Notes the usage of another ensemble for a call; the next snapshot of its conversation includes it. */
export function chargeCall(draft: RunDraft, { turnId, callId, tokens, cost }: Of<'call_charged'>): void {
  const call = draft.call(draft.conversation(turnId), callId);
  if (call) call.charged = { tokens, costUsd: cost };
}

export function updateProgress(draft: RunDraft, frame: ProgressFrame): void {
  const call = draft.call(draft.conversation(frame.turnId), frame.callId);
  if (call && !call.endedAt) call.progress = progressText(frame);
}

export function endCall(draft: RunDraft, frame: Of<'tool_called'>): void {
  const conversation = draft.conversation(frame.turnId);
  let call = draft.call(conversation, frame.callId);
  const caller = draft.caller(conversation);
  if (!call && caller) {
    // It was answered without a dispatch, by a refusal or a person, or dispatched before the first event folded here.
    const startedAt = new Date(Date.parse(frame.at) - frame.durationMs).toISOString();
    call = {
      id: frame.callId,
      seq: frame.seq,
      tool: frame.toolName,
      args: frame.toolArguments,
      startedAt,
      isConversation: false,
    };
    caller.calls.push(call);
  }
  if (call) {
    const { durationMs, outcome, toolResult: result, structuredResult: data } = frame;
    Object.assign(
      call,
      definedFields({
        tool: frame.toolName,
        args: frame.toolArguments,
        endedAt: frame.at,
        durationMs,
        outcome,
        result,
        data,
      }),
    );
  }
  endConversation(draft, frame.callId, frame.at);
  if (conversation?.phase.kind === 'tools') {
    const running = conversation.phase.running - 1;
    conversation.phase = running > 0 ? { ...conversation.phase, running } : { kind: 'between', since: frame.at };
  }
}

export function openReview(draft: RunDraft, frame: Of<'review_requested'>): void {
  const { type: _type, seq, at, ...fields } = frame;
  const review = definedFields<Review>({ ...fields, taskName: fields.taskName ?? fields.taskDescription });
  draft.reviews().set(frame.reviewId, review);
  const conversation = reviewedConversation(draft, frame.turnId);
  conversation?.items.push({ kind: 'review', seq, reviewId: frame.reviewId, review });
  if (conversation) conversation.phase = { kind: 'reviewing', since: at };
  const task = draft.task(conversation?.taskIndex ?? frame.taskIndex);
  if (task && !task.endedAt) task.status = 'WAITING';
  if (task && conversation && isInstance(conversation.id))
    draft.setInstance(task.index, conversation.id, { status: 'WAITING' });
}

/** The conversation of that id, or the one that made the call of that id, or that of its task. */
function reviewedConversation(draft: RunDraft, id: string): Conversation | undefined {
  return draft.conversation(id) ?? draft.conversation(parentId(id) ?? '') ?? draft.conversation(String(taskNumber(id)));
}

export function closeReview(
  draft: RunDraft,
  frame: StoredFrame & { reviewId: string },
  text: string,
  detail?: string | null,
): void {
  const review = draft.run.reviews.get(frame.reviewId);
  if (!review) return;
  draft.reviews().delete(frame.reviewId);
  const conversation = reviewedConversation(draft, review.turnId);
  const task = draft.task(conversation?.taskIndex ?? review.taskIndex);
  if (task?.status === 'WAITING') task.status = task.startedAt ? 'RUNNING' : 'PENDING';
  if (task && conversation && isInstance(conversation.id) && conversation.phase.kind === 'reviewing')
    draft.setInstance(task.index, conversation.id, { status: 'RUNNING' });
  const item = draft.review(conversation, frame.reviewId);
  if (item) item.outcome = definedFields({ seq: frame.seq, at: frame.at, text, detail });
  if (conversation?.phase.kind === 'reviewing') conversation.phase = { kind: 'between', since: frame.at };
}

export function endRun(draft: RunDraft, frame: Of<'ensemble_completed'>): void {
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
