import { describe, expect, it } from 'vitest';
import type { SavedWorkflow, TaskDocument, WorkflowDocument } from '../api/types';
import { changes } from './changes';
import { check, merged, told } from './check';
import { givenNames, isSame, toDocument, toGraph, toTasks } from './convert';
import { add, change, circular, connect, disconnect, downstream, EMPTY, freeName, type Graph, insert, nextId, order, refusal, remove, titleOf, upstream, variables } from './graph';
import { began, record, redo, undo } from './history';
import { arranged, below, freePlace, links } from './place';
import { EditorStore } from './store';
import { MANIFEST, perform } from './tools';

const REPORT: WorkflowDocument = {
  name: 'report',
  tasks: [
    { name: 'read', description: 'Read about {topic}', tools: ['calculator'], position: { x: 10, y: 20 }, agent: { role: 'Reader', allowDelegation: true } },
    { name: 'write', description: 'Write it up', context: ['$read'], position: { x: 400, y: 20 }, outputSchema: { type: 'object' }, review: 'required', maxIterations: 3 },
  ],
  inputs: { topic: 'bees' },
  options: { workflow: 'PARALLEL' },
};

const drawn = (): Graph => toGraph(REPORT);
const [READ, WRITE] = ['t1', 't2'];
const ids = (graph: Graph): string[] => graph.tasks.map(({ id }) => id);

describe('a document', () => {
  it('comes back from the canvas as it went there', () => {
    expect(toDocument(drawn())).toEqual(REPORT);
  });

  it('keeps what this page does not know', () => {
    const tasks = [{ description: 'x', colour: 'red', position: { x: 0, y: 0 } } as TaskDocument];
    expect(toDocument(toGraph({ name: 'w', tasks })).tasks).toEqual(tasks);
  });

  it('is read in the words of this page, however it was written', () => {
    const graph = toGraph({ ...REPORT, inputs: { year: 2026, topic: null }, options: { workflow: 'parallel', reviewPolicy: 'Never', captureMode: null, verbose: true } });
    expect([graph.inputs, graph.options]).toEqual([{ year: '2026' }, { workflow: 'PARALLEL', reviewPolicy: 'NEVER', verbose: true }]);
  });

  it('is laid out when its tasks have no places', () => {
    const graph = toGraph({ name: 'w', tasks: [{ name: 'a', description: 'A' }, { name: 'b', description: 'B', context: ['a'] }] });
    expect(graph.tasks[1]?.at.x).toBeGreaterThan(graph.tasks[0]?.at.x ?? 0);
  });

  it('resolves references by name, by position and by the names the server gives', () => {
    const tasks = toTasks([{ description: 'Plan it!' }, { description: 'Plan it' }, { name: '7', description: 'x' }, { description: 'y', context: ['$plan-it-2', '$0', '2', '$nobody'] }]);
    expect(tasks[3]?.reads).toEqual(['t2', 't1', 't3']);
    expect(givenNames([{ description: 'Ünï code, ok' }, { description: '!' }])).toEqual(['ünï-code-ok', 'task']);
  });

  it('refers by position where a name would not be clear', () => {
    const graph = { ...EMPTY, name: 'w', tasks: toTasks([{ name: '7', description: 'a' }, { description: 'b' }, { name: 'c', description: 'c', context: ['$0', '$1'] }, { description: 'd', context: ['$c'] }]) };
    expect(toDocument(graph).tasks.map(({ context }) => context)).toEqual([undefined, undefined, ['$0', '$1'], ['$c']]);
  });

  it('is the same until something in it is different, a schema that is no JSON included', () => {
    expect(isSame(drawn(), drawn())).toBe(true);
    expect(isSame(drawn(), change(drawn(), WRITE, { outputSchema: '{ "type": "object"}' }))).toBe(true);
    expect(isSame(change(drawn(), WRITE, { outputSchema: '' }), change(drawn(), WRITE, { outputSchema: '{' }))).toBe(false);
    expect(isSame(drawn(), change(drawn(), READ, { at: { x: 11, y: 20 } }))).toBe(false);
  });
});

describe('an edit', () => {
  it('leaves the graph it began from alone', () => {
    const before = drawn();
    const copy = structuredClone(before);
    remove(connect(add(before, { name: 'x' }), WRITE, 't3'), [READ]);
    expect(before).toEqual(copy);
  });

  it('takes what others read of a task away with it', () => {
    expect(remove(drawn(), [READ]).tasks).toMatchObject([{ id: WRITE, reads: [] }]);
    expect(disconnect(drawn(), READ, WRITE).tasks[1]?.reads).toEqual([]);
  });

  it('refuses links to itself, twice, or in a circle', () => {
    const graph = connect(add(drawn(), { name: 'x' }), WRITE, 't3');
    expect(refusal(graph, READ, READ)).toContain('itself');
    expect(refusal(graph, READ, WRITE)).toContain('already');
    expect(refusal(graph, 't3', READ)).toContain('wait on each other');
    expect(refusal(graph, READ, 't3')).toBeUndefined();
    expect([...upstream(graph, 't3')]).toEqual([WRITE, READ]);
  });

  it('knows what waits for a task, and what waits for itself', () => {
    const graph = connect(add(drawn(), { name: 'x' }), WRITE, 't3');
    expect([...downstream(graph, READ)]).toEqual([WRITE, 't3']);
    expect([...circular(graph)]).toEqual([]);
    // Behind a circle, but not part of it.
    expect([...circular(connect(connect(graph, WRITE, READ), READ, 't3'))]).toEqual([READ, WRITE]);
  });

  it('checks a thousand tasks while somebody types', () => {
    const tasks = Array.from({ length: 1_000 }, (_, at): TaskDocument => ({ name: `n${at}`, description: 'x', context: at === 0 ? [] : [`$n${at - 1}`], position: { x: at, y: 0 } }));
    const graph = toGraph({ name: 'w', tasks });
    const began = performance.now();
    expect(check(graph)).toEqual([]);
    expect(isSame(graph, change(graph, 't9', { name: 'y' }))).toBe(false);
    expect(performance.now() - began).toBeLessThan(2_000);
  });

  it('inserts copies under new ids and names, links among them kept', () => {
    const { graph, ids: fresh } = insert(drawn(), drawn().tasks);
    expect(fresh).toEqual(['t3', 't4']);
    expect(graph.tasks.map(({ name }) => name)).toEqual(['read', 'write', 'read 2', 'write 2']);
    expect(graph.tasks[3]?.reads).toEqual(['t3']);
    expect(freeName(graph, 'READ')).toBe('READ 3');
    expect(nextId(remove(graph, ['t4']))).toBe('t4');
  });

  it('knows the order the server would infer, and the inputs', () => {
    expect([order(disconnect({ ...drawn(), options: {} }, READ, WRITE)), order({ ...drawn(), options: {} })]).toEqual(['SEQUENTIAL', 'PARALLEL']);
    expect(variables(change(drawn(), WRITE, { expectedOutput: '{{topic}} {a_1} {no way} {topic}', role: '{who}' }))).toEqual(['topic', 'a_1', 'who']);
  });
});

describe('the canvas', () => {
  it('places new tasks where nothing stands', () => {
    let graph = drawn();
    for (let count = 0; count < 6; count += 1) graph = add(graph, { at: freePlace(graph, [READ]) });
    const places = graph.tasks.map(({ at }) => at);
    for (const one of places) for (const other of places) if (one !== other) expect(Math.abs(one.x - other.x) >= 232 || Math.abs(one.y - other.y) >= 82).toBe(true);
    expect(freePlace(EMPTY, [])).toEqual({ x: 0, y: 0 });
  });

  it('tidies up, and puts another drawing below', () => {
    const tidy = arranged(drawn());
    expect(tidy.tasks[0]?.at.y).toBe(tidy.tasks[1]?.at.y);
    expect(Math.min(...below(tidy, drawn().tasks).map(({ at }) => at.y))).toBeGreaterThan(tidy.tasks[0]?.at.y ?? 0);
    expect(links(drawn())).toEqual([{ from: READ, to: WRITE, kind: 'reads' }]);
  });
});

describe('undo and redo', () => {
  const edit = (label: string, at = 0, key?: string) => ({ label, at, ...(key ? { key } : {}) });

  it('go back and forth over every step, and a new step forgets what was undone', () => {
    const [one, two, three] = [drawn(), change(drawn(), READ, { name: 'a' }), change(drawn(), READ, { name: 'b' })];
    let history = record(record(began(one), two, edit('two')), three, edit('three'));
    history = undo(undo(history));
    expect([history.present, history.past.length, history.future.map(({ label }) => label)]).toEqual([one, 0, ['two', 'three']]);
    expect(undo(history)).toBe(history);
    expect(redo(redo(history)).present).toBe(three);
    expect(redo(record(history, three, edit('other'))).present).toBe(three);
  });

  it('take typing in one field as one step until there is a pause', () => {
    const typed = (history: ReturnType<typeof began>, name: string, at: number) => record(history, change(history.present, READ, { name }), edit('rename', at, 't1.name'));
    const history = typed(typed(typed(began(drawn()), 'a', 0), 'ab', 500), 'abc', 9_000);
    expect(history.past.length).toBe(2);
    expect(undo(history).present.tasks[0]?.name).toBe('ab');
    expect(record(history, history.present, edit('nothing'))).toBe(history);
  });
});

describe('checking', () => {
  it('tells what is wrong with each task', () => {
    const graph = change(change(connect(connect(add(drawn(), { name: 'read' }), WRITE, 't3'), 't3', READ), WRITE, { description: ' ', outputSchema: '{' }), READ, { role: '', goal: 'x' });
    const found = check({ ...graph, name: ' ' }).map(({ task, field }) => `${task} ${field}`);
    expect(found).toEqual(['undefined name', 't1 name', 't1 reads', 't1 role', 't2 description', 't2 reads', 't2 outputSchema', 't3 description', 't3 name', 't3 reads']);
    expect(check(graph).find(({ task, field }) => task === WRITE && field === 'reads')?.message).toBe('It waits for itself: write ← read ← read ← write');
    expect(check(drawn())).toEqual([]);
    expect(check(EMPTY).map(({ message }) => message)).toContain('Add a task: a workflow has at least one');
  });

  it('puts what the server says on the task and the field', () => {
    const mistake = (place: string, error = 'BAD_REQUEST') => ({ place, error, message: 'no' });
    const found = told(drawn(), [mistake('tasks[1].tools[0]', 'INVALID_TOOL'), mistake('tasks[0].context'), mistake('tasks[0].agent.role'), mistake('tasks[1]'), mistake('model'), mistake('inputs', 'MISSING_INPUT'), mistake('')]);
    expect(found.map(({ task, field }) => [task, field])).toEqual([[WRITE, 'tools'], [READ, 'reads'], [READ, 'role'], [WRITE, undefined], [undefined, 'model'], [undefined, undefined]]);
    expect(merged([{ task: WRITE, field: 'tools', message: 'here' }], found).filter(({ task }) => task === WRITE).map(({ message }) => message)).toEqual(['here']);
  });
});

describe('two versions', () => {
  it('differ in words', () => {
    const after = change(remove(add({ ...drawn(), inputs: {} }, { name: 'print' }), [READ]), WRITE, { model: 'deep', description: 'x' });
    expect(changes(drawn(), after)).toEqual(["adds 'print'", "removes 'read'", "'write': description, model, what it reads", 'other defaults for inputs']);
    expect(changes(drawn(), drawn())).toEqual([]);
    expect(changes(drawn(), change(drawn(), READ, { at: { x: 0, y: 0 } }))).toEqual(['tasks moved on the canvas']);
  });
});

describe('a call of the chat', () => {
  const nothing = (): undefined => undefined;
  const call = (name: string, args: unknown, graph = drawn()) => perform(graph, name, args, (reference) => (reference === 'graph:1' ? { ...REPORT, name: 'planned' } : undefined));

  it('tells the graph by names', () => {
    const shown = JSON.parse(call('ui_get_graph', {}).result) as { tasks: { name: string; context?: string[] }[] };
    expect(shown.tasks.map(({ name, context }) => [name, context])).toEqual([['read', undefined], ['write', ['read']]]);
  });

  it('adds, changes, connects and removes', () => {
    const added = call('ui_add_node', { name: 'read', description: 'x', context: ['Write'], tools: ['json'], agent: { role: 'Cook' } });
    expect(added).toMatchObject({ isError: false, touched: ['t3'], result: "Added 'read 2', which reads 'write'." });
    expect(added.graph.tasks[2]).toMatchObject({ name: 'read 2', reads: [WRITE], tools: ['json'], role: 'Cook' });
    const changed = call('ui_update_node', { node: 'read 2', name: 'print', context: [] }, added.graph);
    expect(changed.graph.tasks[2]).toMatchObject({ name: 'print', description: 'x', reads: [], tools: ['json'] });
    expect(call('ui_connect_nodes', { from: 'read', to: 'print' }, changed.graph).graph.tasks[2]?.reads).toEqual([READ]);
    expect(call('ui_delete', { connections: [{ from: 'read', to: 'write' }] }).graph.tasks[1]?.reads).toEqual([]);
    expect(call('ui_delete', { nodes: ['read'] }).graph.tasks.map(({ name }) => name)).toEqual(['write']);
  });

  it('pastes what was planned beside what is there, or in its place', () => {
    const beside = call('ui_paste', { graph_ref: 'graph:1' });
    expect(ids(beside.graph)).toEqual(['t1', 't2', 't3', 't4']);
    expect(beside.graph).toMatchObject({ name: 'report' });
    expect(call('ui_paste', { graph_ref: 'graph:1', replace: true }).graph.tasks.map(({ name }) => name)).toEqual(['read', 'write']);
    expect(call('ui_paste', { tasks: [{ name: 'a', description: 'A' }, { name: 'b', description: 'B', context: ['a'] }] }, EMPTY).graph.tasks[1]?.reads).toEqual(['t1']);
    expect(call('ui_paste', { graph_ref: 'graph:1' }, EMPTY).graph).toMatchObject({ name: 'planned', inputs: { topic: 'bees' } });
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
    expect(MANIFEST.map(({ name }) => name)).toEqual(['ui_get_graph', 'ui_add_node', 'ui_connect_nodes', 'ui_update_node', 'ui_delete', 'ui_paste']);
    for (const { name } of MANIFEST) expect(perform(EMPTY, name, {}, nothing).result).not.toContain('no tool');
  });
});

describe('what is being edited', () => {
  const saved = (version: number, { name, tasks } = REPORT): SavedWorkflow => ({ name, tasks, id: 'w', version, createdAt: '', updatedAt: '', updatedBy: 'ana' });

  it('is changed until it is saved, and undoing leads away from what is saved', () => {
    const store = new EditorStore();
    store.open(saved(1));
    expect(store.snapshot().isDirty).toBe(false);
    store.edit('rename', (graph) => change(graph, READ, { name: 'a' }));
    expect(store.snapshot().isDirty).toBe(true);
    store.saved(saved(2), store.graph);
    expect(store.snapshot()).toMatchObject({ isDirty: false, base: { version: 2 } });
    store.undo();
    expect(store.snapshot().isDirty).toBe(true);
    store.redo();
    expect(store.snapshot().isDirty).toBe(false);
  });

  it('takes theirs as a step that can be undone, or keeps mine over theirs', () => {
    const store = new EditorStore();
    store.open(saved(1));
    store.edit('rename', (graph) => change(graph, READ, { name: 'mine' }));
    const theirs = saved(2, { ...REPORT, name: 'theirs' });
    store.rebase(theirs);
    expect(store.snapshot()).toMatchObject({ isDirty: true, base: { version: 2 } });
    store.take('take version 2', theirs);
    expect([store.graph.name, store.snapshot().isDirty]).toEqual(['theirs', false]);
    store.undo();
    expect([titleOf(store.graph, READ), store.snapshot().isDirty]).toEqual(['mine', true]);
  });

  it('is changed by the chat in steps of their own, each call once', () => {
    const store = new EditorStore();
    store.open(saved(1));
    store.choose([WRITE]);
    const { isError } = store.call('ui_delete', { nodes: ['write'] }, () => undefined);
    expect([isError, store.snapshot().chosen, store.snapshot().history.past.map(({ label }) => label)]).toEqual([false, [], ["chat: remove 'write'"]]);
    store.undo();
    expect(ids(store.graph)).toEqual([READ, WRITE]);
    expect([store.isNew('turn/call'), store.isNew('turn/call')]).toEqual([true, false]);
  });
});
