import { describe, expect, it } from 'vitest';
import type { SavedWorkflow } from '../api/types';
import { change, titleOf } from './graph';
import { began, record, redo, undo } from './history';
import { EditorStore } from './store';
import { drawn, ids, READ, REPORT, WRITE } from './fixture';

describe('what is being edited', () => {
  const saved = (version: number, { name, tasks } = REPORT): SavedWorkflow => ({
    name,
    tasks,
    id: 'w',
    version,
    createdAt: '',
    updatedAt: '',
    updatedBy: 'ana',
  });

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
    store.select([WRITE]);
    const { isError } = store.call('ui_delete', { nodes: ['write'] }, () => undefined);
    expect([isError, store.snapshot().selected, store.snapshot().history.past.map(({ label }) => label)]).toEqual([
      false,
      [],
      ["chat: remove 'write'"],
    ]);
    store.undo();
    expect(ids(store.graph)).toEqual([READ, WRITE]);
    expect([store.isNew('turn/call'), store.isNew('turn/call')]).toEqual([true, false]);
  });
});

describe('undo and redo', () => {
  const edit = (label: string, at = 0, key?: string) => ({ label, at, ...(key ? { key } : {}) });

  it('go back and forth over every step, and a new step forgets what was undone', () => {
    const [one, two, three] = [drawn(), change(drawn(), READ, { name: 'a' }), change(drawn(), READ, { name: 'b' })];
    let history = record(record(began(one), two, edit('two')), three, edit('three'));
    history = undo(undo(history));
    expect([history.present, history.past.length, history.future.map(({ label }) => label)]).toEqual([
      one,
      0,
      ['two', 'three'],
    ]);
    expect(undo(history)).toBe(history);
    expect(redo(redo(history)).present).toBe(three);
    expect(redo(record(history, three, edit('other'))).present).toBe(three);
  });

  it('take typing in one field as one step until there is a pause', () => {
    const typed = (history: ReturnType<typeof began>, name: string, at: number) =>
      record(history, change(history.present, READ, { name }), edit('rename', at, 't1.name'));
    const history = typed(typed(typed(began(drawn()), 'a', 0), 'ab', 500), 'abc', 9_000);
    expect(history.past.length).toBe(2);
    expect(undo(history).present.tasks[0]?.name).toBe('ab');
    expect(record(history, history.present, edit('nothing'))).toBe(history);
  });
});
