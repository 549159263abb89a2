import { describe, expect, it } from 'vitest';
import { edges, layout } from '../rooms/run/graph/layout';
import { rows } from '../rooms/run/timeline/spans';
import { at, place, told } from './fixture';
import { fold } from './fold';
import { conversationOf, costOf } from './instances';
import { emptyRun } from './seed';

const instance = (turnId: string, name: string, round: number): object => ({
  ...place(turnId, name),
  taskIndex: Number.parseInt(turnId, 10),
  round,
});
const done = (turnId: string, name: string, round: number): object[] => [
  { type: 'task_started', ...instance(turnId, name, round) },
  {
    type: 'task_completed',
    ...instance(turnId, name, round),
    tokenCount: 5,
    toolCallCount: 1,
    output: `${name} ${round}`,
  },
];

/** Two tasks that are repeated together for two rounds, and one that a condition leaves out. */
const LOOP = told(
  {
    type: 'run_accepted',
    ensemble: 'demo',
    workflow: 'PARALLEL',
    totalTasks: 3,
    tasks: [
      { taskIndex: 1, name: 'draft', agentRole: 'Writer', context: [2] },
      { taskIndex: 2, name: 'judge', agentRole: 'Writer', context: [1] },
      { taskIndex: 3, name: 'print', agentRole: 'Writer', context: [], when: "outputs.judge == 'yes'" },
    ],
    groups: [{ name: 'loop', tasks: [1, 2], repeatUntil: 'round == 1', maxRounds: 5 }],
  },
  { type: 'ensemble_started', totalTasks: 3, workflow: 'PARALLEL' },
  ...done('1r0', 'draft', 0),
  ...done('2r0', 'judge', 0),
  {
    type: 'expression_evaluated',
    group: 'loop',
    round: 0,
    key: 'repeat_until',
    expression: 'round == 1',
    value: false,
  },
  ...done('1r1', 'draft', 1),
  { type: 'task_started', ...instance('2r1', 'judge', 1) },
);
const END = told(
  ...LOOP,
  { type: 'task_completed', ...instance('2r1', 'judge', 1), tokenCount: 5, toolCallCount: 1, output: 'no' },
  { type: 'task_completed', ...place('1', 'draft'), tokenCount: 10, toolCallCount: 2, output: 'draft 1' },
  { type: 'task_completed', ...place('2', 'judge'), tokenCount: 10, toolCallCount: 2, output: 'no' },
  { type: 'task_skipped', ...place('3', 'print'), reason: 'its condition does not hold', cause: 'condition' },
);

describe('tasks in rounds', () => {
  it('are one task each, with what came of every round', () => {
    const run = fold(emptyRun('run-1'), LOOP);
    const [draft, judge] = run.tasks;
    expect(draft).toMatchObject({ status: 'RUNNING', startedAt: at(2), tokens: 10, toolCalls: 2 });
    expect(draft?.instances?.map(({ id, round, status, output }) => [id, round, status, output])).toEqual([
      ['1r0', 0, 'COMPLETED', 'draft 0'],
      ['1r1', 1, 'COMPLETED', 'draft 1'],
    ]);
    expect(judge?.instances?.map(({ status }) => status)).toEqual(['COMPLETED', 'RUNNING']);
    expect(judge && conversationOf(run, judge)?.id).toBe('2r1');
    expect(run.conversations.get('2r1')).toMatchObject({ parent: '2', taskIndex: 2, title: 'round 2' });
    expect(
      fold(run, END.slice(LOOP.length)).tasks.map(({ status, output, error }) => [status, output ?? error]),
    ).toEqual([
      ['COMPLETED', 'draft 1'],
      ['COMPLETED', 'no'],
      ['SKIPPED', 'its condition does not hold'],
    ]);
  });

  it('have a row for each round in the timeline', () => {
    const run = fold(emptyRun('run-1'), END);
    expect(rows(run, new Set(), Date.parse(at(30))).map(({ name, depth }) => `${depth} ${name}`)).toEqual([
      '0 draft',
      '1 round 1',
      '1 round 2',
      '0 judge',
      '1 round 1',
      '1 round 2',
      '0 print',
    ]);
  });

  it('add up what their rounds used', () => {
    const run = fold(emptyRun('run-1'), END);
    const used = { inputTokens: 10, outputTokens: 4, costUsd: 0.5 };
    const conversations = new Map([...run.conversations].map(([id, each]) => [id, { ...each, ...used }]));
    const [draft] = rows({ ...run, conversations }, new Set(), Date.parse(at(30)));
    expect(draft?.used).toEqual({ inputTokens: 20, outputTokens: 8, costUsd: 1, tries: 0, isRetried: false });
    expect(run.tasks.map((task) => costOf({ ...run, conversations }, task))).toEqual([1, 1, undefined]);
  });

  it('are linked forward, back to the next round, and to what a condition decides', () => {
    const run = fold(emptyRun('run-1'), END);
    const links = edges(run.tasks, run.workflow, run.groups);
    expect(links.map(({ from, to, kind }) => `${from}>${to} ${kind}`)).toEqual([
      '2>1 again',
      '1>2 reads',
      '2>3 decides',
    ]);
    const places = layout(run.tasks, links, 'LR', run.groups);
    expect(places.get(1)?.x).toBeLessThan(places.get(2)?.x ?? 0);
    expect(places.get(2)?.x).toBeLessThan(places.get(3)?.x ?? 0);
  });
});
