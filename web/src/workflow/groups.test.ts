import { describe, expect, it } from 'vitest';
import { check } from './check';
import { isSame, toDocument, toGraph, typedInput } from './convert';
import { drawn, READ, WRITE } from './fixture';
import { change, circular, connect, linkRefusal, remove, variables } from './graph';
import { addGroup, changeGroup, dissolve, groupOfAll, groupRefusal } from './groups';
import { links } from './place';

describe('a group', () => {
  const grouped = changeGroup(addGroup(drawn(), [WRITE, READ]), READ, {
    name: 'loop',
    repeatUntil: "outputs.write == 'done'",
    maxRounds: '4',
    onMaxRounds: 'accept',
  });

  it('is saved by the names of its tasks and read again', () => {
    const document = toDocument(grouped);
    expect(document.groups).toEqual([
      {
        name: 'loop',
        tasks: ['read', 'write'],
        repeatUntil: "outputs.write == 'done'",
        maxRounds: 4,
        onMaxRounds: 'accept',
      },
    ]);
    expect(isSame(toGraph(document), grouped)).toBe(true);
    expect(isSame(drawn(), grouped)).toBe(false);
  });

  it('lets an earlier task read a later one, of the round before, only while it is repeated', () => {
    expect(linkRefusal(drawn(), WRITE, READ)).toMatch(/they would wait on each other/);
    expect(linkRefusal(grouped, WRITE, READ)).toBeUndefined();
    const looped = connect(grouped, WRITE, READ);
    expect(circular(looped).size).toBe(0);
    expect(links(looped).map(({ kind }) => kind)).toEqual(['again', 'reads']);
    const once = changeGroup(looped, READ, { repeatUntil: '' });
    expect(check(once).map(({ message }) => message)).toContain('It waits for itself: read ← write ← read');
  });

  it('has each task once, and goes with its last', () => {
    expect(groupRefusal(grouped, [READ])).toMatch(/one group only/);
    expect(groupOfAll(grouped, [WRITE, READ])?.name).toBe('loop');
    expect(remove(grouped, [READ]).groups[0]?.tasks).toEqual([WRITE]);
    expect(remove(grouped, [READ, WRITE]).groups).toEqual([]);
    expect(dissolve(grouped, WRITE).groups).toEqual([]);
  });
});

describe('conditions and items', () => {
  it('are kept, and name inputs but not items', () => {
    const graph = change(drawn(), WRITE, {
      description: 'Write {item} for {audience}, {index}',
      when: 'inputs.urgent',
      forEach: 'outputs.read.items',
      maxItems: '7',
    });
    expect(toDocument(graph).tasks[1]).toMatchObject({
      when: 'inputs.urgent',
      forEach: 'outputs.read.items',
      maxItems: 7,
    });
    expect(isSame(toGraph(toDocument(graph)), graph)).toBe(true);
    expect(variables(graph)).toEqual(['topic', 'audience', 'urgent']);
  });

  it('take lists and objects as they are typed', () => {
    expect(typedInput('["Rome", "Oslo"]')).toEqual(['Rome', 'Oslo']);
    expect(typedInput('[not yet')).toBe('[not yet');
    expect(typedInput('5')).toBe('5');
  });
});
