import { describe, expect, it } from 'vitest';
import { mathMarks } from './math';

describe('formulas in a text', () => {
  it.each([
    ['a \\(x^2\\) b', 'a $$x^2$$ b'],
    ['so \\[ E = mc^2 \\] then', 'so \n\n$$\nE = mc^2\n$$\n\n then'],
    ['let $x$ be $a_1 + b$', 'let $$x$$ be $$a_1 + b$$'],
    ['$$\ny\n$$', '$$\ny\n$$'],
  ])('%j are found however they are written', (text, marked) => {
    expect(mathMarks(text)).toBe(marked);
  });

  it.each([
    'It costs $5 and then $10.',
    'From $5 to $7 a month',
    'Run `echo $HOME_$x` or `\\(a\\)`',
    '```sh\necho $a_$b \\(x\\)\n```',
    'US$ 5 and $x',
  ])('%j has none', (text) => {
    expect(mathMarks(text)).toBe(text);
  });
});
