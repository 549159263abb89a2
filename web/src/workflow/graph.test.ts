import { describe, expect, it } from 'vitest';
import type { TaskDocument } from '../api/types';
import { check } from './check';
import { isSame, toGraph } from './convert';
import {
  add,
  change,
  circular,
  connect,
  disconnect,
  downstream,
  EMPTY,
  freeName,
  insert,
  nextId,
  order,
  linkRefusal,
  remove,
  upstream,
  variables,
} from './graph';
import { arranged, below, freePlace, links } from './place';
import { drawn, READ, WRITE } from './fixture';

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
    expect(linkRefusal(graph, READ, READ)).toContain('itself');
    expect(linkRefusal(graph, READ, WRITE)).toContain('already');
    expect(linkRefusal(graph, 't3', READ)).toContain('wait on each other');
    expect(linkRefusal(graph, READ, 't3')).toBeUndefined();
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
    const tasks = Array.from({ length: 1_000 }, (_, at): TaskDocument => ({
      name: `n${at}`,
      description: 'x',
      context: at === 0 ? [] : [`$n${at - 1}`],
      position: { x: at, y: 0 },
    }));
    const graph = toGraph({ name: 'w', tasks });
    const began = performance.now();
    expect(check(graph)).toEqual([]);
    expect(isSame(graph, change(graph, 't9', { name: 'y' }))).toBe(false);
    expect(performance.now() - began).toBeLessThan(2_000);
  });

  it('inserts copies under new ids and names, links among them kept', () => {
    const { graph, ids: touched } = insert(drawn(), drawn().tasks);
    expect(touched).toEqual(['t3', 't4']);
    expect(graph.tasks.map(({ name }) => name)).toEqual(['read', 'write', 'read 2', 'write 2']);
    expect(graph.tasks[3]?.reads).toEqual(['t3']);
    expect(freeName(graph, 'READ')).toBe('READ 3');
    expect(nextId(remove(graph, ['t4']))).toBe('t4');
  });

  it('knows the order the server would infer, and the inputs', () => {
    expect([order(disconnect({ ...drawn(), options: {} }, READ, WRITE)), order({ ...drawn(), options: {} })]).toEqual([
      'SEQUENTIAL',
      'PARALLEL',
    ]);
    expect(
      variables(change(drawn(), WRITE, { expectedOutput: '{{topic}} {a_1} {no way} {topic}', role: '{who}' })),
    ).toEqual(['topic', 'a_1', 'who']);
  });
});

describe('the canvas', () => {
  it('places new tasks where nothing stands', () => {
    let graph = drawn();
    for (let count = 0; count < 6; count += 1) graph = add(graph, { at: freePlace(graph, [READ]) });
    const places = graph.tasks.map(({ at }) => at);
    for (const one of places)
      for (const other of places)
        if (one !== other) expect(Math.abs(one.x - other.x) >= 232 || Math.abs(one.y - other.y) >= 82).toBe(true);
    expect(freePlace(EMPTY, [])).toEqual({ x: 0, y: 0 });
  });

  it('tidies up, and puts another drawing below', () => {
    const tidy = arranged(drawn());
    expect(tidy.tasks[0]?.at.y).toBe(tidy.tasks[1]?.at.y);
    expect(Math.min(...below(tidy, drawn().tasks).map(({ at }) => at.y))).toBeGreaterThan(tidy.tasks[0]?.at.y ?? 0);
    expect(links(drawn())).toEqual([{ from: READ, to: WRITE, kind: 'reads' }]);
  });
});
