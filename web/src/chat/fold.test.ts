import { describe, expect, it } from 'vitest';
import { fold } from './fold';
import { fromRows } from './rows';
import type { Frame, Row } from './frame';
import { plannedGraph, planText, planUnderWay } from './plans';
import type { Item } from './state';

const AT = '2026-01-01T00:00:00Z';
const EMPTY = { next: 0, turns: [] };

function told(...frames: object[]): Frame[] {
  return frames.map(
    (frame, chat_seq) =>
      ({ thread_id: 't', turn_id: 'turn-1', chat_seq, at: AT, parent_id: null, depth: 0, ...frame }) as Frame,
  );
}

const row = (fields: Partial<Row>): Row => ({
  id: 'r',
  role: 'assistant',
  content: '',
  tool_calls: null,
  tool_call_id: null,
  is_error: false,
  error: null,
  truncated: false,
  continues: null,
  turn_id: 'turn-1',
  execution_tree: null,
  created_at: AT,
  ...fields,
});

const SUBTASK = { id: 'c1', name: 'run_subtask', args: { title: 'Hive', instructions: 'Look' } };
const NODE = { is_error: false, duration_ms: 5 };
const TREE = {
  version: 1 as const,
  nodes: [
    {
      ...NODE,
      id: 'c1',
      parent_id: null,
      name: 'run_subtask',
      title: 'Hive',
      args_preview: '{…}',
      result_preview: 'Fine',
    },
    { ...NODE, id: 'c2', parent_id: 'c1', name: 'calculator', args_preview: '{"input":"6*7"}', result_preview: '42' },
  ],
};

const ROWS = [
  row({ id: '0', role: 'user', content: 'Compare' }),
  row({ id: '1', content: 'I will look.', tool_calls: [SUBTASK] }),
  row({ id: '2', role: 'tool', content: 'Fine', tool_call_id: 'c1' }),
  row({ id: '3', content: 'All is well.', execution_tree: TREE }),
];

const TURN = told(
  { type: 'message', ...ROWS[0] },
  { type: 'turn_started', model: 'swift', permission_mode: 'default' },
  { type: 'llm_started', call_id: '1#1.0', model: 'swift', iteration: 0 },
  { type: 'message', ...ROWS[1], call_id: '1#1.0' },
  {
    type: 'tool_call_update',
    tool_call_id: 'c1',
    name: 'run_subtask',
    status: 'start',
    args: SUBTASK.args,
    message: 'Hive',
  },
  { type: 'llm_started', call_id: '1.0.0#1.0', model: 'swift', iteration: 0, parent_id: 'c1', depth: 1 },
  {
    type: 'tool_call_update',
    tool_call_id: 'c2',
    name: 'calculator',
    status: 'start',
    args: '{"input":"6*7"}',
    parent_id: 'c1',
    depth: 1,
  },
  {
    type: 'tool_approval_request',
    approval_id: 'a',
    tool_call_id: 'c2',
    tool_name: 'calculator',
    args: {},
    parent_id: 'c1',
  },
  { type: 'tool_approval_resolved', approval_id: 'a', decision: 'allow', by: 'ana' },
  {
    type: 'tool_call_update',
    tool_call_id: 'c2',
    name: 'calculator',
    status: 'end',
    result: '42',
    is_error: false,
    duration_ms: 5,
    parent_id: 'c1',
    depth: 1,
  },
  {
    type: 'tool_call_update',
    tool_call_id: 'c1',
    name: 'run_subtask',
    status: 'end',
    result: 'Fine',
    is_error: false,
    duration_ms: 5,
  },
  { type: 'llm_started', call_id: '1#2.0', model: 'swift', iteration: 1 },
  { type: 'llm_completed', call_id: '1#2.0', content: 'All is well.' },
  { type: 'message', ...ROWS[3] },
  {
    type: 'cost_summary',
    total_usd: 0.5,
    input_tokens: 1,
    output_tokens: 2,
    llm_calls: 3,
    tool_calls: 2,
    subtasks: 1,
    wall_ms: 9,
  },
  { type: 'chunk', done: true, content: '', status: 'COMPLETED' },
);

/** The texts and calls a reader sees of a turn, nested. */
const outline = (items: Item[]): unknown[] =>
  items.flatMap((item): unknown[] => {
    if (item.kind === 'text') return item.text ? [item.text] : [];
    return item.kind === 'call' ? [[item.title ?? item.name, item.result, item.isError, outline(item.items)]] : [];
  });

describe('a thread', () => {
  it('is laid out alike from its frames and from its rows', () => {
    const live = fold(EMPTY, TURN).turns[0];
    const reloaded = fromRows(ROWS, 16).turns[0];
    expect(outline(live?.items ?? [])).toEqual([
      'I will look.',
      ['Hive', 'Fine', false, [['calculator', '42', false, []]]],
      'All is well.',
    ]);
    expect(outline(reloaded?.items ?? [])).toEqual(outline(live?.items ?? []));
    expect(live).toMatchObject({
      message: 'Compare',
      isOver: true,
      approvals: [],
      cost: { total_usd: 0.5 },
      mode: 'default',
    });
  });

  it('counts a frame that comes twice once, in whatever batches', () => {
    const whole = fold(EMPTY, TURN);
    expect(TURN.reduce((state, frame) => fold(state, [frame]), EMPTY as ReturnType<typeof fold>)).toEqual(whole);
    expect(fold(fold(EMPTY, TURN.slice(0, 9)), TURN.slice(3))).toEqual(whole);
    expect(fold(fromRows(ROWS, 0), TURN)).toEqual(whole);
  });

  it('shows rows of a turn whose beginning it was not told', () => {
    const known = fromRows(ROWS, 5);
    expect(fold(known, TURN.slice(5)).turns).toEqual(known.turns);
  });

  it('marks an answer that was cut and tells why a turn failed, alike from frames and from rows', () => {
    const cut = [
      row({ id: '0', role: 'user', content: 'Tell' }),
      row({ id: '1', content: 'Half an ans', truncated: true }),
    ];
    const live = fold(
      EMPTY,
      told(
        { type: 'message', ...cut[0] },
        { type: 'llm_started', call_id: '1#1.0', model: 'm', iteration: 0 },
        { type: 'llm_completed', call_id: '1#1.0', content: 'Half an ans' },
        { type: 'answer_truncated', then: 'accept', in_call: false, call_id: '1#1.0' },
        { type: 'message', ...cut[1] },
        { type: 'chunk', done: true, content: '', status: 'COMPLETED' },
      ),
    ).turns[0];
    expect([live?.isCut, fromRows(cut, 6).turns[0]?.isCut]).toEqual([true, true]);
    const failed = [
      row({ id: '0', role: 'user', content: 'Tell' }),
      row({ id: '1', content: 'I had be\n\nno luck', is_error: true, error: 'no luck' }),
    ];
    const broken = fold(
      EMPTY,
      told(
        { type: 'message', ...failed[0] },
        { type: 'answer_empty', then: 'continue', call_id: '1#1.0' },
        { type: 'llm_started', call_id: '1#2.0', model: 'm', iteration: 1 },
        { type: 'chunk', call_id: '1#2.0', content: 'I had be', offset: 0 },
        { type: 'error', code: 'provider_error', message: 'no luck' },
        { type: 'message', ...failed[1] },
        { type: 'chunk', done: true, content: '', status: 'FAILED' },
      ),
    ).turns[0];
    const seen = (items: Item[] = []) => items.map((item) => (item.kind === 'call' ? '' : item.text));
    expect(seen(broken?.items)).toEqual(['Empty answer; asked again', 'I had be', 'no luck']);
    expect(seen(fromRows(failed, 7).turns[0]?.items)).toEqual(['I had be', 'no luck']);
  });

  it('asks for permission until it is answered', () => {
    expect(fold(EMPTY, TURN.slice(0, 8)).turns[0]?.approvals).toMatchObject([{ approval_id: 'a' }]);
    expect(fold(EMPTY, TURN.slice(0, 9)).turns[0]?.approvals).toEqual([]);
  });

  it('keeps why a call is asked about, and tells who took a grant back', () => {
    const why = { reason: 'taint', host: 'sink.example', bytes: 312, sources: ['secret.env'] };
    const asked = { type: 'tool_approval_request', approval_id: 'a', tool_call_id: 'c', tool_name: 't', args: {} };
    const withdrawn = { type: 'grant_withdrawn', grant_id: 'grant-7', by: 'ana' };
    const [turn] = fold(EMPTY, told({ type: 'message', ...ROWS[0] }, { ...asked, ...why }, withdrawn)).turns;
    expect(turn?.approvals).toMatchObject([why]);
    expect(turn?.items.at(-1)).toMatchObject({ text: 'ana revoked what was allowed in this chat' });
  });

  it('tells what is planned as it comes, and which calls are for the page', () => {
    const build = { id: 'b', name: 'build_workflow', args: { objective: 'Tea' } };
    const inside = { parent_id: 'b', depth: 1 };
    const graph = { name: 'Tea', tasks: [{ name: 'brew', description: 'Brew' }] };
    const frames = told(
      { type: 'message', ...ROWS[0] },
      { type: 'message', ...row({ id: '1', tool_calls: [build] }), call_id: '1#1.0' },
      {
        type: 'tool_call_update',
        tool_call_id: 'b',
        name: 'build_workflow',
        status: 'start',
        args: build.args,
        message: null,
      },
      { type: 'planning_update', phase: 'planning', status: 'start', content: 'Tea', ...inside },
      { type: 'planning_update', phase: 'validation', status: 'failed', content: 'no such tool', ...inside },
      { type: 'planning_update', phase: 'validation', status: 'end', content: 'fine', ...inside },
      { type: 'task_update', event: 'planned', task: graph.tasks[0], ...inside },
      {
        type: 'tool_call_update',
        tool_call_id: 'b',
        name: 'build_workflow',
        status: 'end',
        result: '{"graph_ref":"graph:1"}',
        is_error: false,
        duration_ms: 5,
        data: graph,
      },
      { type: 'tool_call_update', tool_call_id: 'p', name: 'ui_paste', status: 'start', args: {}, message: null },
      { type: 'tool_call', tool_call_id: 'p', name: 'ui_paste', args: { graph_ref: 'graph:1' } },
      {
        type: 'tool_call_update',
        tool_call_id: 'p',
        name: 'ui_paste',
        status: 'end',
        result: 'Put on the canvas.',
        is_error: false,
        duration_ms: 5,
      },
    );
    const after = (count: number) => fold(EMPTY, frames.slice(0, count));
    const text = (count: number): string => {
      const plan = planUnderWay(after(count));
      return plan ? planText(plan) : 'nothing';
    };
    expect([4, 5, 6, 7, 10, 11].map(text)).toEqual([
      'Plans: Tea',
      'Corrects the plan: no such tool',
      'The plan has no mistakes',
      'Planned 1 task: brew',
      'Planned 1 task: brew',
      'nothing',
    ]);
    expect(after(10).turns[0]?.clientCalls).toEqual([
      { tool_call_id: 'p', name: 'ui_paste', args: { graph_ref: 'graph:1' } },
    ]);
    expect(after(11).turns[0]?.clientCalls).toEqual([]);
    expect([plannedGraph(after(11), 'graph:1'), plannedGraph(after(11), 'graph:2')]).toEqual([graph, undefined]);
  });

  it('joins chunks by their place, passes over what came twice and tells of what was missed', () => {
    const place = {
      type: 'chunk',
      thread_id: 'thread-1',
      turn_id: 'turn-1',
      chat_seq: 2,
      call_id: '1#1.0',
      parent_id: null,
      depth: 0,
    } as const;
    const chunk = (content: string, offset: number): Frame => ({ ...place, content, offset });
    const asked = fold(EMPTY, TURN.slice(0, 3));
    const words = (...chunks: Frame[]): unknown => fold(asked, chunks).turns[0]?.items[0];
    expect(words(chunk('Bién ', 0), chunk('sûr', 6), chunk('Bién ', 0))).toMatchObject({
      text: 'Bién sûr',
      hasGap: false,
    });
    expect(words(chunk('late', 40))).toMatchObject({ text: 'late', hasGap: true });
    expect(words({ ...place, content: 'Hm', offset: 0, thinking: true }, chunk('Yes', 0))).toMatchObject({
      text: 'Yes',
      thought: 'Hm',
      hasGap: false,
    });
  });

  it('that branched off begins with what was said before, once', () => {
    const rows = [
      row({ id: 'a', role: 'user', content: 'Name a bird' }),
      row({ id: 'b', content: 'Wren' }),
      row({ id: 'c', role: 'user', content: 'A grey one' }),
      row({ id: 'd', content: 'Heron' }),
    ];
    const said = [
      ['a', 'Name a bird', true],
      ['turn-1', 'A grey one', undefined],
    ];
    const begun = fromRows(rows, 0);
    expect(begun.turns.map(({ id, message, isEarlier }) => [id, message, isEarlier])).toEqual(said);
    expect(begun.turns.map(({ items }) => items.map((item) => item.kind === 'text' && item.text))).toEqual([
      ['Wren'],
      ['Heron'],
    ]);
    const followed = fold(begun, told({ type: 'message', role: 'user', content: 'A grey one' }));
    expect(followed.turns.map(({ id, message, isEarlier }) => [id, message, isEarlier])).toEqual(said);
  });
});
