import { readdirSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = import.meta.dirname;

const files = (ending: string): string[] =>
  readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .map((path) => resolve(ROOT, path));

/** Classes of libraries, which their own components set. */
const FOREIGN = /^(react-flow|mantine|hljs|connect)/;

/** The classes a style sheet has rules for. */
function classes(sheet: string): string[] {
  const selectors = readFileSync(sheet, 'utf8')
    .replaceAll(/\/\*[^]*?\*\//g, '')
    .replaceAll(/\{[^{}]*\}/g, '{}');
  return [...new Set([...selectors.matchAll(/\.([a-z][\w-]*)/gi)].map(([, name = '']) => name))];
}

/** The classes components name, by style sheet; `all` where one is named by a value. */
function namedClasses(): Map<string, Set<string>> {
  const named = new Map<string, Set<string>>();
  for (const path of files('.tsx')) {
    const text = readFileSync(path, 'utf8');
    for (const [, variable, sheet = ''] of text.matchAll(/import (\w+) from '([^']+\.module\.css)'/g)) {
      const found = [...text.matchAll(new RegExp(`\\b${variable}(?:\\.(\\w+)|\\[)`, 'g'))].map(([, name]) => name);
      const known = named.get(resolve(dirname(path), sheet)) ?? new Set();
      named.set(resolve(dirname(path), sheet), new Set([...known, ...found.map((name) => name ?? 'all')]));
    }
  }
  return named;
}

it('every class a component names is in its style sheet, and none is there for nothing', () => {
  const named = namedClasses();
  const wrong = files('.module.css').flatMap((sheet) => {
    const [there, wanted] = [classes(sheet), named.get(sheet) ?? new Set<string>()];
    const missing = [...wanted].filter((name) => name !== 'all' && !there.includes(name));
    const unused = wanted.has('all') ? [] : there.filter((name) => !wanted.has(name) && !FOREIGN.test(name));
    return [...missing.map((name) => `${sheet}: no .${name}`), ...unused.map((name) => `${sheet}: unused .${name}`)];
  });
  expect(wrong).toEqual([]);
});
