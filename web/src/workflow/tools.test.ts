import { describe, expect, it } from 'vitest';
import { EMPTY } from './graph';
import { MANIFEST, perform } from './tools';
import { drawn, ids, READ, REPORT, WRITE } from './fixture';

describe('a call of the chat', () => {
  const nothing = (): undefined => undefined;
  const call = (name: string, args: unknown, graph = drawn()) =>
    perform(graph, name, args, (reference) => (reference === 'graph:1' ? { ...REPORT, name: 'planned' } : undefined));

  it('tells the graph by names', () => {
    const shown = JSON.parse(call('ui_get_graph', {}).result) as { tasks: { name: string; context?: string[] }[] };
    expect(shown.tasks.map(({ name, context }) => [name, context])).toEqual([
      ['read', undefined],
      ['write', ['read']],
    ]);
  });

  it('adds, changes, connects and removes', () => {
    const added = call('ui_add_node', {
      name: 'read',
      description: 'x',
      context: ['Write'],
      tools: ['json'],
      agent: { role: 'Cook' },
    });
    expect(added).toMatchObject({ isError: false, touched: ['t3'], result: "Added 'read 2', which reads 'write'." });
    expect(added.graph.tasks[2]).toMatchObject({ name: 'read 2', reads: [WRITE], tools: ['json'], role: 'Cook' });
    const changed = call('ui_update_node', { node: 'read 2', name: 'print', context: [] }, added.graph);
    expect(changed.graph.tasks[2]).toMatchObject({ name: 'print', description: 'x', reads: [], tools: ['json'] });
    expect(call('ui_connect_nodes', { from: 'read', to: 'print' }, changed.graph).graph.tasks[2]?.reads).toEqual([
      READ,
    ]);
    expect(call('ui_delete', { connections: [{ from: 'read', to: 'write' }] }).graph.tasks[1]?.reads).toEqual([]);
    expect(call('ui_delete', { nodes: ['read'] }).graph.tasks.map(({ name }) => name)).toEqual(['write']);
  });

  it('pastes what was planned beside what is there, or in its place', () => {
    const beside = call('ui_paste', { graph_ref: 'graph:1' });
    expect(ids(beside.graph)).toEqual(['t1', 't2', 't3', 't4']);
    expect(beside.graph).toMatchObject({ name: 'report' });
    expect(call('ui_paste', { graph_ref: 'graph:1', replace: true }).graph.tasks.map(({ name }) => name)).toEqual([
      'read',
      'write',
    ]);
    expect(
      call(
        'ui_paste',
        {
          tasks: [
            { name: 'a', description: 'A' },
            { name: 'b', description: 'B', context: ['a'] },
          ],
        },
        EMPTY,
      ).graph.tasks[1]?.reads,
    ).toEqual(['t1']);
    expect(call('ui_paste', { graph_ref: 'graph:1' }, EMPTY).graph).toMatchObject({
      name: 'planned',
      inputs: { topic: 'bees' },
    });
  });

  it('says what is wrong and changes nothing', () => {
    const before = drawn();
    for (const [name, args, words] of [
      ['ui_connect_nodes', { from: 'write', to: 'read' }, 'wait on each other'],
      ['ui_connect_nodes', { from: 'nobody', to: 'read' }, "There are: 'read', 'write'"],
      ['ui_add_node', { description: 'x', context: ['nobody'] }, "no task called 'nobody'"],
      ['ui_update_node', { node: 'read', name: 'write' }, "called 'write' already"],
      ['ui_update_node', { node: 'read', context: ['write'] }, 'wait on each other'],
      ['ui_update_node', { node: 'read' }, 'Say what'],
      ['ui_delete', {}, 'Name nodes'],
      ['ui_delete', { connections: [{ from: 'write', to: 'read' }] }, 'does not read'],
      ['ui_paste', { graph_ref: 'graph:9' }, "No graph called 'graph:9'"],
      ['ui_paste', null, 'nothing to paste'],
      ['ui_fly', {}, 'no tool'],
    ] as const) {
      const answer = perform(before, name, args, nothing);
      expect([answer.isError, answer.graph === before, answer.label], name).toEqual([true, true, undefined]);
      expect(answer.result).toContain(words);
    }
  });

  it('tells what is still to be mended', () => {
    expect(call('ui_add_node', { name: 'x', description: ' ' }).result).toBe("Added 'x'. But: x: Say what to do.");
  });

  it('is one of those the canvas offers', () => {
    expect(MANIFEST.map(({ name }) => name)).toEqual([
      'ui_get_graph',
      'ui_add_node',
      'ui_connect_nodes',
      'ui_update_node',
      'ui_delete',
      'ui_paste',
    ]);
    for (const { name } of MANIFEST) expect(perform(EMPTY, name, {}, nothing).result).not.toContain('no tool');
  });
});
