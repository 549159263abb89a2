import { describe, expect, it } from 'vitest';
import { lines } from './diff';

describe('a diff', () => {
  it('marks the words that changed and leaves out what did not', () => {
    const before = Array.from({ length: 20 }, (_, line) => `line ${line}`).join('\n');
    const found = lines(before, before.replace('line 10', 'row 10'));
    expect(found.map(({ kind }) => kind)).toEqual(['skip', ' ', ' ', ' ', '-', '+', ' ', ' ', ' ', 'skip']);
    expect(found[5]).toMatchObject({
      parts: [
        { text: 'row', isChanged: true },
        { text: ' 10', isChanged: false },
      ],
    });
  });
});
