import { describe, expect, it } from 'vitest';
import { changes } from './changes';
import { check, mergeIssues, toIssues } from './check';
import { add, change, connect, EMPTY, remove } from './graph';
import { drawn, READ, WRITE } from './fixture';

describe('checking', () => {
  it('tells what is wrong with each task', () => {
    const graph = change(
      change(connect(connect(add(drawn(), { name: 'read' }), WRITE, 't3'), 't3', READ), WRITE, {
        description: ' ',
        outputSchema: '{',
      }),
      READ,
      { role: '', goal: 'x' },
    );
    const found = check({ ...graph, name: ' ' }).map(({ task, field }) => `${task} ${field}`);
    expect(found).toEqual([
      'undefined name',
      't1 name',
      't1 reads',
      't1 role',
      't2 description',
      't2 reads',
      't2 outputSchema',
      't3 description',
      't3 name',
      't3 reads',
    ]);
    expect(check(graph).find(({ task, field }) => task === WRITE && field === 'reads')?.message).toBe(
      'It waits for itself: write ← read ← read ← write',
    );
    expect(check(drawn())).toEqual([]);
    expect(check(EMPTY).map(({ message }) => message)).toContain('Add a task: a workflow has at least one');
  });

  it('puts what the server says on the task and the field', () => {
    const mistake = (place: string, error = 'BAD_REQUEST') => ({ place, error, message: 'no' });
    const found = toIssues(drawn(), [
      mistake('tasks[1].tools[0]', 'INVALID_TOOL'),
      mistake('tasks[0].context'),
      mistake('tasks[0].agent.role'),
      mistake('tasks[1]'),
      mistake('model'),
      mistake('inputs', 'MISSING_INPUT'),
      mistake(''),
    ]);
    expect(found.map(({ task, field }) => [task, field])).toEqual([
      [WRITE, 'tools'],
      [READ, 'reads'],
      [READ, 'role'],
      [WRITE, undefined],
      [undefined, 'model'],
      [undefined, undefined],
    ]);
    expect(
      mergeIssues([{ task: WRITE, field: 'tools', message: 'here' }], found)
        .filter(({ task }) => task === WRITE)
        .map(({ message }) => message),
    ).toEqual(['here']);
  });
});

describe('two versions', () => {
  it('differ in words', () => {
    const after = change(remove(add({ ...drawn(), inputs: {} }, { name: 'print' }), [READ]), WRITE, {
      model: 'deep',
      description: 'x',
    });
    expect(changes(drawn(), after)).toEqual([
      "adds 'print'",
      "removes 'read'",
      "'write': description, model, what it reads",
      'other defaults for inputs',
    ]);
    expect(changes(drawn(), drawn())).toEqual([]);
    expect(changes(drawn(), change(drawn(), READ, { at: { x: 0, y: 0 } }))).toEqual(['tasks moved on the canvas']);
  });
});
