import { describe, expect, it } from 'vitest';
import { fields, toArguments } from './schema';

describe("a tool's form", () => {
  const schema = {
    type: 'object',
    required: ['q'],
    properties: {
      q: { type: 'string' },
      n: { type: 'integer' },
      all: { type: 'boolean' },
      more: { type: 'array' },
      tags: { type: 'array', items: { type: 'string' } },
    },
  };

  it('turns what was typed into arguments of the right types', () => {
    const all = fields(schema);
    expect(all.map(({ kind }) => kind)).toEqual(['text', 'number', 'flag', 'json', 'words']);
    expect(toArguments(all, { q: 'x', n: '3', all: 'true', more: '[1]', tags: 'a\nb' })).toEqual({
      q: 'x',
      n: 3,
      all: true,
      more: [1],
      tags: ['a', 'b'],
    });
    expect(toArguments(all, { q: '5' })).toEqual({ q: '5' });
    expect(() => toArguments(all, { more: '[' })).toThrow('more is not JSON');
    expect(fields(undefined)).toMatchObject([{ name: 'input', kind: 'text', isNeeded: true }]);
  });
});
