import { describe, expect, it } from 'vitest';
import { blocks } from './blocks';

describe('a text that is still coming', () => {
  it('is cut at blank lines, never within code', () => {
    const text = '# Title\n\nOne\ntwo\n\n\n```py\na\n\nb\n```\n\n~~~\n```\n\n~~~\nend';
    expect(blocks(text)).toEqual(['# Title', 'One\ntwo', '```py\na\n\nb\n```', '~~~\n```\n\n~~~\nend']);
    expect(blocks(text.slice(0, text.indexOf('b')))).toEqual(['# Title', 'One\ntwo', '```py\na\n\n']);
    expect([blocks(''), blocks('\n\n')]).toEqual([[], []]);
  });
});
