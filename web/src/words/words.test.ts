import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { afterEach, describe, expect, it } from 'vitest';
import { GERMAN, PARTS } from './de';
import { bestLanguage } from './language';
import { number, plural, said, speak, t } from './t';

const SOURCES = join(import.meta.dirname, '..');

interface Node {
  type: string;
  [field: string]: unknown;
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;

/** Every node of a tree, with those above it, the nearest first. */
function* nodes(node: Node, above: Node[] = []): Generator<[Node, Node[]]> {
  yield [node, above];
  for (const value of Object.values(node).flat()) if (isNode(value)) yield* nodes(value, [node, ...above]);
}

const trees = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path) && !/\.test\.|^words|generated/.test(path))
  .map((path) => ({ path, text: readFileSync(join(SOURCES, path), 'utf8') }))
  .map(({ path, text }) => ({
    path,
    tree: parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts' }) as unknown as Node,
  }));

/** Attributes that people read or hear. */
const READ = new Set(
  'alt aria-label data-name description label means name none placeholder quiet same says title what'.split(' '),
);

const nameOf = (node: unknown): string => (isNode(node) && typeof node['name'] === 'string' ? node['name'] : '');
const hasWords = (text: unknown): boolean => typeof text === 'string' && /[a-z]{2,}/i.test(text);

/** Whether a value ends up on the page, or in an attribute that people read, by whatever choice between values. */
function isShown(value: Node, above: Node[]): boolean {
  const [parent, ...rest] = above;
  switch (parent?.type) {
    case 'ParenthesizedExpression':
      return isShown(parent, rest);
    case 'LogicalExpression':
      return (parent['right'] === value || parent['operator'] !== '&&') && isShown(parent, rest);
    case 'ConditionalExpression':
      return parent['test'] !== value && isShown(parent, rest);
    case 'JSXExpressionContainer':
      return rest[0]?.type !== 'JSXAttribute' || READ.has(nameOf(rest[0]['name']));
    default:
      return false;
  }
}

/** Words that stand in a component as they are. */
function untranslated([node, above]: [Node, Node[]]): boolean {
  // An example in braces is written as it is meant.
  if (node.type === 'Literal')
    return hasWords(node['value']) && !String(node['value']).startsWith('{') && isShown(node, above);
  const isCode = above.some(
    (each) =>
      each.type === 'JSXElement' &&
      isNode(each['openingElement']) &&
      ['code', 'kbd'].includes(nameOf(each['openingElement']['name'])),
  );
  if (node.type === 'JSXText') return !isCode && hasWords(node['value']);
  if (node.type !== 'JSXAttribute' || !READ.has(nameOf(node['name']))) return false;
  const value = isNode(node['value']) && node['value'].type === 'Literal' ? String(node['value']['value']) : '';
  // A small word alone, and an example of an expression, may be meant as they are.
  return (/^[A-Z][a-z]/.test(value) || value.includes(' ')) && !value.startsWith('outputs.');
}

describe('a sentence', () => {
  afterEach(() => speak('en-GB', said));

  it('is said by no component past the dictionary', () => {
    const found = trees.flatMap(({ path, tree }) =>
      [...nodes(tree)].filter(untranslated).map(([node]) => `${path}: ${JSON.stringify(node['value'])}`),
    );
    expect(found).toEqual([]);
  });

  it('is in the dictionary once, and only if it is said', () => {
    const literals = new Set(
      trees.flatMap(({ tree }) =>
        [...nodes(tree)].map(([node]) => (node.type === 'Literal' ? node['value'] : undefined)),
      ),
    );
    const listed = PARTS.flatMap((part) => Object.keys(part));
    expect(listed.filter((sentence) => !literals.has(sentence))).toEqual([]);
    expect(listed.filter((sentence, at) => listed.indexOf(sentence) !== at)).toEqual([]);
  });

  it('has the same values in German, and begins and ends alike', () => {
    const slots = (text: string): string => (text.match(/\{\w+\}/g) ?? []).toSorted().join();
    const edges = (text: string): string => `${/^[ ,;]*/.exec(text)?.[0]}|${/ *$/.exec(text)?.[0]}`;
    const wrong = Object.entries(GERMAN).filter(
      ([english, german]) => slots(english) !== slots(german) || edges(said(english)) !== edges(german) || !german,
    );
    expect(wrong).toEqual([]);
  });

  it('is said with its values, in the order of the language', () => {
    expect(t('Switch the model')).toBe('Switch the model');
    expect(plural(1, '{n} run', '{n} runs')).toBe('1 run');
    expect(number(1234.5, 2)).toBe('1,234.50');
    speak('de-DE', (english) => (GERMAN as Record<string, string>)[english] ?? english);
    expect(t('May {tool_name} be called?', { tool_name: 'calculator' })).toBe('Darf calculator aufgerufen werden?');
    expect(plural(12_000, '{n} run', '{n} runs')).toBe('12.000 Läufe');
    expect(t('Run|verb')).toBe('Starten');
    expect(number(1234.5, 2)).toBe('1.234,50');
  });
});

it.each([
  [['de-AT', 'en'], 'de'],
  [['fr', 'DE'], 'de'],
  [['fr-CA'], 'en'],
  [['en-US', 'de'], 'en'],
  [['constructor'], 'en'],
])('a browser that wants %j reads %s', (wanted, language) => {
  expect(bestLanguage(wanted)).toBe(language);
});
