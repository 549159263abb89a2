import { describe, expect, it } from 'vitest';
import type { TaskDocument } from '../api/types';
import { givenNames, isSame, toDocument, toGraph, toTasks } from './convert';
import { change, EMPTY } from './graph';
import { drawn, READ, REPORT, WRITE } from './fixture';

describe('a document', () => {
  it('comes back from the canvas as it went there', () => {
    expect(toDocument(drawn())).toEqual(REPORT);
  });

  it('keeps what this page does not know', () => {
    const tasks = [{ description: 'x', colour: 'red', position: { x: 0, y: 0 } } as TaskDocument];
    expect(toDocument(toGraph({ name: 'w', tasks })).tasks).toEqual(tasks);
  });

  it('is read in the words of this page, however it was written', () => {
    const graph = toGraph({
      ...REPORT,
      inputs: { year: 2026, topic: null },
      options: { workflow: 'parallel', reviewPolicy: 'Never', captureMode: null, verbose: true },
    });
    expect([graph.inputs, graph.options]).toEqual([
      { year: 2026 },
      { workflow: 'PARALLEL', reviewPolicy: 'NEVER', verbose: true },
    ]);
  });

  it('is laid out when its tasks have no places', () => {
    const graph = toGraph({
      name: 'w',
      tasks: [
        { name: 'a', description: 'A' },
        { name: 'b', description: 'B', context: ['a'] },
      ],
    });
    expect(graph.tasks[1]?.at.x).toBeGreaterThan(graph.tasks[0]?.at.x ?? 0);
  });

  it('resolves references by name, by position and by the names the server gives', () => {
    const tasks = toTasks([
      { description: 'Plan it!' },
      { description: 'Plan it' },
      { name: '7', description: 'x' },
      { description: 'y', context: ['$plan-it-2', '$0', '2', '$nobody'] },
    ]);
    expect(tasks[3]?.reads).toEqual(['t2', 't1', 't3']);
    expect(givenNames([{ description: 'Ünï code, ok' }, { description: '!' }])).toEqual(['ünï-code-ok', 'task']);
  });

  it('refers by position where a name would not be clear', () => {
    const graph = {
      ...EMPTY,
      name: 'w',
      tasks: toTasks([
        { name: '7', description: 'a' },
        { description: 'b' },
        { name: 'c', description: 'c', context: ['$0', '$1'] },
        { description: 'd', context: ['$c'] },
      ]),
    };
    expect(toDocument(graph).tasks.map(({ context }) => context)).toEqual([undefined, undefined, ['$0', '$1'], ['$c']]);
  });

  it('is the same until something in it is different, a schema that is no JSON included', () => {
    expect(isSame(drawn(), drawn())).toBe(true);
    expect(isSame(drawn(), change(drawn(), WRITE, { outputSchema: '{ "type": "object"}' }))).toBe(true);
    expect(isSame(change(drawn(), WRITE, { outputSchema: '' }), change(drawn(), WRITE, { outputSchema: '{' }))).toBe(
      false,
    );
    expect(isSame(drawn(), change(drawn(), READ, { at: { x: 11, y: 20 } }))).toBe(false);
  });
});
