import { describe, expect, it } from 'vitest';
import { parser } from './sse';

describe('server-sent events', () => {
  it('are whole however they are cut', () => {
    const text = ': ping\n\nevent: a\ndata: {"x":1}\nid: 0\n\ndata: one\ndata: two\r\n\r\n';
    for (let cut = 0; cut <= text.length; cut += 1) {
      const taken: string[] = [];
      const parse = parser((data) => {
        taken.push(data);
        return false;
      });
      parse(text.slice(0, cut));
      parse(text.slice(cut));
      expect(taken).toEqual(['{"x":1}', 'one\ntwo']);
    }
  });
});
