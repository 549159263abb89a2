import { describe, expect, it } from 'vitest';
import { relevel } from './headings';

const levels = (base: number, ...written: number[]): string[] => {
  const children = written.map((level) => ({ type: 'element', tagName: `h${level}` }));
  relevel(base)()({ type: 'root', children });
  return children.map(({ tagName }) => tagName);
};

describe('the headings of a text', () => {
  it('stand below those of the page and leave no level out', () => {
    expect(levels(3, 1, 2, 2, 1)).toEqual(['h3', 'h4', 'h4', 'h3']);
    expect(levels(2, 4, 2, 5)).toEqual(['h2', 'h2', 'h3']);
    expect(levels(2, 1, 3, 2)).toEqual(['h2', 'h3', 'h3']);
    expect(levels(5, 1, 2, 3)).toEqual(['h5', 'h6', 'h6']);
  });
});
