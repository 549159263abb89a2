// A run as rows of time: tasks, the conversations below them, and within each what took how long.

import { isInstance } from '../../../run/ids';
import type { Conversation, Instance, Round, RunState, Task } from '../../../run/state';
import { instanceName } from '../../../run/words';
import type { ShownStatus } from '../../../ui/Status';
import { grouped } from '../../../ui/grouped';
import { t } from '../../../words/t';

export type Kind = 'model' | 'tool' | 'review' | 'retry';

export interface Span {
  kind: Kind;
  from: number;
  to: number;
  title: string;
  seq: number;
  used?: Used;
}

/** The usage of a step. */
export interface Used {
  inputTokens: number;
  outputTokens: number;
  costUsd?: number;
  /** The time until the first word; known only where this page saw it come. */
  firstWordMs?: number;
  /** Model calls made for it, failed ones included. */
  tries: number;
  /** Some of them were tried again. */
  isRetried: boolean;
}

export interface Row {
  id: string;
  /** The conversation it belongs to. */
  conversation: string;
  depth: number;
  name: string;
  note: string;
  status: ShownStatus;
  /** Whether there are rows below it, and whether they are shown. */
  opens: 'no' | 'open' | 'closed';
  from?: number;
  to?: number;
  /** The events before this time were not read. */
  readFrom?: number;
  /** It began before the events that were read, at an unknown time: its duration is at least the shown one. */
  isCut?: true;
  spans: Span[];
  used?: Used;
  /** It was done in the run this one was made of. */
  isInherited?: true;
}

/** Every row that is shown. `open` names the rows whose parts are shown one by one. */
export function rows(run: RunState, open: ReadonlySet<string>, now: number): Row[] {
  const below = grouped(
    [...run.conversations.values()].filter(({ parent }) => parent !== undefined),
    ({ parent }) => parent,
  );
  const began = Date.parse(run.acceptedAt);
  return run.tasks.flatMap((task) => taskRows(run, task, { below, open, now, began }));
}

interface Shown {
  below: Map<string | undefined, Conversation[]>;
  open: ReadonlySet<string>;
  now: number;
  /** The start of the run; inherited events lie before it and are not drawn. */
  began: number;
}

function taskRows(run: RunState, task: Task, shown: Shown): Row[] {
  const id = String(task.index);
  const conversation = run.conversations.get(id);
  if (conversation && !task.isInherited) return conversationRows(conversation, task, shown);
  const { instances = [] } = task;
  const parts = instances.flatMap((instance) => instanceRows(run, instance, shown));
  const row: Row = {
    id,
    conversation: id,
    depth: 0,
    name: task.name,
    note: task.role,
    status: task.status,
    opens: 'no',
    spans: [],
    ...together(parts.filter(({ depth }) => depth === 1)),
  };
  if (task.isInherited) row.isInherited = true;
  else if (task.startedAt) {
    const to = task.endedAt ? Date.parse(task.endedAt) : shown.now;
    const unread = run.first > 0 && instances.length === 0 ? { readFrom: to } : {};
    Object.assign(row, { from: Date.parse(task.startedAt), to, ...unread });
  }
  return [row, ...parts];
}

/** A task for one item, or in one round. */
function instanceRows(run: RunState, instance: Instance, shown: Shown): Row[] {
  const name = instanceName(instance);
  const conversation = run.conversations.get(instance.id);
  if (conversation && !instance.isInherited) return conversationRows(conversation, { ...instance, name }, shown);
  const { id, status, startedAt, endedAt } = instance;
  const to = endedAt ? Date.parse(endedAt) : shown.now;
  return [
    {
      id,
      conversation: id,
      depth: 1,
      name,
      note: '',
      status,
      opens: 'no',
      spans: [],
      ...(instance.isInherited
        ? { isInherited: true }
        : startedAt
          ? { from: Date.parse(startedAt), to, readFrom: to }
          : {}),
    },
  ];
}

/** The usage of the items or rounds of a task, added up. */
function together(parts: readonly Row[]): Pick<Row, 'used'> {
  const used = parts.flatMap((part) => part.used ?? []);
  if (used.length === 0) return {};
  const costs = used.flatMap(({ costUsd }) => costUsd ?? []);
  const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);
  return {
    used: {
      inputTokens: sum(used.map(({ inputTokens }) => inputTokens)),
      outputTokens: sum(used.map(({ outputTokens }) => outputTokens)),
      tries: sum(used.map(({ tries }) => tries)),
      isRetried: used.some(({ isRetried }) => isRetried),
      ...(costs.length > 0 ? { costUsd: sum(costs) } : {}),
    },
  };
}

type Timed = Pick<Task, 'name' | 'status' | 'startedAt' | 'endedAt'>;

/** A conversation and those below it. A task's own times come from the server, however few of its events were read. */
function conversationRows(conversation: Conversation, task: Timed | undefined, shown: Shown): Row[] {
  const [first = '', ...deeper] = conversation.id.split('.');
  const depth = deeper.length / 2 + (isInstance(first) ? 1 : 0);
  const spans = spansOf(conversation, shown.now).filter(({ from }) => from >= shown.began);
  const isOpen = shown.open.has(conversation.id);
  const [began, ended] = [task?.startedAt ?? conversation.startedAt, task?.endedAt ?? conversation.endedAt];
  const row: Row = {
    id: conversation.id,
    conversation: conversation.id,
    depth,
    name: task?.name ?? conversation.title,
    note: conversation.role,
    status: task?.status ?? (conversation.endedAt ? 'COMPLETED' : 'RUNNING'),
    opens: spans.length === 0 ? 'no' : isOpen ? 'open' : 'closed',
    from: Math.max(Date.parse(began), shown.began),
    to: ended ? Date.parse(ended) : shown.now,
    spans,
    used: usedBy(conversation),
    ...(conversation.isJoined ? { readFrom: Date.parse(conversation.startedAt) } : {}),
    ...(conversation.isJoined && !task?.startedAt ? { isCut: true } : {}),
  };
  const parts = isOpen ? spans.map((span, position) => partRow(conversation.id, depth + 1, span, position)) : [];
  const children = (shown.below.get(conversation.id) ?? [])
    .filter(({ endedAt }) => endedAt === undefined || Date.parse(endedAt) >= shown.began)
    .flatMap((child) => conversationRows(child, undefined, shown));
  return [row, ...parts, ...children];
}

function partRow(conversation: string, depth: number, span: Span, position: number): Row {
  return {
    id: `${conversation}/${position}`,
    conversation,
    depth,
    name: span.title,
    note: '',
    status: 'COMPLETED',
    opens: 'no',
    from: span.from,
    to: span.to,
    spans: [span],
    ...(span.used ? { used: span.used } : {}),
  };
}

/** The usage of a conversation as a whole. */
function usedBy({ items, inputTokens, outputTokens, costUsd }: Conversation): Used {
  const rounds = items.filter((item) => item.kind === 'round');
  const first = rounds[0]?.firstWordMs;
  return {
    inputTokens,
    outputTokens,
    tries: rounds.reduce((sum, round) => sum + triesOfRound(round), 0),
    isRetried: rounds.some((round) => triesOfRound(round) > 1),
    ...(costUsd === undefined ? {} : { costUsd }),
    ...(first === undefined ? {} : { firstWordMs: first }),
  };
}

/** The attempts at a model call: the first, and one for each failure after which it was tried again. */
const triesOfRound = ({ failures }: Round): number =>
  1 + failures.filter(({ retriedAt }) => retriedAt !== undefined).length;

function usedByRound(round: Round): Used {
  const { inputTokens, outputTokens, costUsd, firstWordMs } = round;
  return {
    inputTokens: Math.max(0, inputTokens),
    outputTokens: Math.max(0, outputTokens),
    tries: triesOfRound(round),
    isRetried: triesOfRound(round) > 1,
    ...(costUsd === undefined ? {} : { costUsd }),
    ...(firstWordMs === undefined ? {} : { firstWordMs }),
  };
}

export function spansOf(conversation: Conversation, now: number): Span[] {
  const spans: Span[] = [];
  const end = (at: string | undefined): number =>
    at ? Date.parse(at) : conversation.endedAt ? Date.parse(conversation.endedAt) : now;
  for (const item of conversation.items) {
    if (item.kind === 'round') spans.push(...triesOf(item, end(item.endedAt)));
    if ('calls' in item) {
      for (const call of item.calls) {
        if (call.isConversation) continue;
        spans.push({
          kind: 'tool',
          from: Date.parse(call.startedAt),
          to: end(call.endedAt),
          title: call.tool,
          seq: call.seq,
        });
      }
    }
    if (item.kind === 'review') {
      const from = Date.parse(item.review.createdAt);
      spans.push({
        kind: 'review',
        from,
        to: end(item.outcome?.at),
        title: item.outcome?.text ?? t('waits for a review'),
        seq: item.seq,
      });
    }
  }
  return spans;
}

/** A round's tries; between them it waits. */
function triesOf(round: Round, end: number): Span[] {
  const title = t('{model}, round {value}', { model: round.model, value: round.index + 1 });
  let from: number | undefined = Date.parse(round.startedAt);
  const spans = round.failures.flatMap((failure): Span[] => {
    const at = Date.parse(failure.at);
    const tried: Span[] = from === undefined ? [] : [{ kind: 'model', from, to: at, title, seq: round.seq }];
    from = failure.retriedAt === undefined ? undefined : Date.parse(failure.retriedAt);
    return [
      ...tried,
      {
        kind: 'retry',
        from: at,
        to: at,
        title: t('failed: {message}; {then}', { message: failure.message, then: failure.then }),
        seq: failure.seq,
      },
    ];
  });
  const used = usedByRound(round);
  return from === undefined ? spans : [...spans, { kind: 'model', from, to: end, title, seq: round.seq, used }];
}

/** Neighbours that would be drawn on top of each other become one, so that a row stays a bounded number of boxes. */
export function merged(spans: readonly Span[], gapMs: number): Span[] {
  const last = new Map<Kind, Span>();
  const kept: Span[] = [];
  for (const span of spans) {
    const before = last.get(span.kind);
    if (before && span.from - before.to < gapMs && span.to - span.from < 4 * gapMs) {
      before.to = Math.max(before.to, span.to);
      before.title = t('{value} and more', { value: before.title.replace(/ and more$/, '') });
    } else {
      const copy = { ...span };
      last.set(span.kind, copy);
      kept.push(copy);
    }
  }
  return kept;
}

/** Round times to draw lines at: at most `most` of them. */
export function ticks(spanMs: number, most: number): number[] {
  const steps = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5, 72e5, 216e5,
    864e5,
  ];
  const step = steps.find((size) => spanMs / size <= most) ?? spanMs / most;
  return Array.from({ length: Math.floor(spanMs / step) + 1 }, (_, position) => position * step);
}
