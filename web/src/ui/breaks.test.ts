import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import ReactMarkdown from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { describe, expect, it } from 'vitest';
import { breaks } from './breaks';

const html = (text: string): string =>
  renderToStaticMarkup(
    createElement(ReactMarkdown, { remarkPlugins: [remarkGfm], rehypePlugins: [breaks as never] }, text),
  );

describe('the lines of a text', () => {
  it.each([
    ['Hive 1: 40 kg\nHive 2: 41 kg', '<p>Hive 1: 40 kg<br/>Hive 2: 41 kg</p>'],
    ['**Hive 1**\n**Hive 2**', '<p><strong>Hive 1</strong><br/><strong>Hive 2</strong></p>'],
    ['hard  \nbreak', '<p>hard<br/>break</p>'],
    ['- one\n  two\n- three', '<ul>\n<li>one<br/>two</li>\n<li>three</li>\n</ul>'],
    ['- one\n  - below', '<ul>\n<li>one<ul>\n<li>below</li>\n</ul></li>\n</ul>'],
    ['```\na\nb\n```', '<pre><code>a\nb\n</code></pre>'],
    ['two\n\nparagraphs', '<p>two</p>\n<p>paragraphs</p>'],
  ])('stay lines, and nothing else becomes one: %j', (text, expected) => {
    expect(html(text)).toBe(expected);
  });
});
