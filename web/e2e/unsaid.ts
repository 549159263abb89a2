// What a page says past the dictionary: every sentence is in brackets there, and what the server sent is no sentence.

import type { Page, Response } from 'playwright-core';
import type { Consort } from './server';

/** Collects the texts a server sends a page, as far as they are values. What it returns waits until all were read. */
export function collectData(page: Page, values: Set<string>): () => Promise<unknown> {
  const reading: Promise<void>[] = [];
  page.on('response', (response) => {
    // A stream of events has no end to wait for.
    if (/\/api\/|\.json/.test(response.url()) && !response.headers()['content-type']?.includes('event-stream'))
      reading.push(readText(response).then((text) => keep(text, values)));
  });
  page.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => keep(String(payload), values)));
  return () => Promise.all(reading);
}

/** The answers that every page may show; a page that is left early takes the answers it did not read with it. */
const KNOWN = ['capabilities', 'me', 'status', 'runs', 'threads', 'workflows', 'network', 'collections', 'reviews'];

/** Takes over what the server tells of everything, and what was said in its conversations. */
export async function addKnown(server: Consort, values: Set<string>): Promise<void> {
  for (const name of KNOWN) gather(await server.call('GET', `/api/${name}`), values);
  const { threads } = (await server.call('GET', '/api/threads')) as { threads: { id: string }[] };
  for (const { id } of threads) gather(await server.call('GET', `/api/threads/${id}/messages`), values);
}

/** Takes over what the page of a run reads as a stream. */
export async function addEvents(server: Consort, path: string, values: Set<string>): Promise<void> {
  const id = /^\/runs\/(run-\w+)/.exec(path)?.[1];
  if (id) gather(await server.call('GET', `/api/runs/${id}/events?from=0&limit=1000`), values);
}

/** The body of a response; empty when the page went on before it was there. */
async function readText(response: Response): Promise<string> {
  try {
    return await response.text();
  } catch {
    return '';
  }
}

function keep(text: string, values: Set<string>): void {
  try {
    gather(JSON.parse(text), values);
  } catch {
    values.add(text);
  }
}

/** Objects whose keys are names that people gave. */
const NAMED = new Set(['inputs', 'tags', 'properties', 'paths', 'schemas', 'output', 'parsedOutput']);

function gather(value: unknown, into: Set<string>, isNamed = false): void {
  if (typeof value === 'string') into.add(value);
  else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) {
      if (isNamed) into.add(key);
      gather(inner, into, NAMED.has(key));
    }
}

/** The words on the page outside of brackets, and those of its labels. */
function wordsOutside(): string[] {
  const found: string[] = [];
  let depth = 0;
  const outside = (text: string): string => {
    let kept = '';
    for (const letter of text) {
      if (letter === '⟦') depth += 1;
      if (depth === 0) kept += letter;
      if (letter === '⟧') depth -= 1;
    }
    return kept;
  };
  const walk = (node: Node): void => {
    if (node instanceof Element) {
      if (node.matches('[aria-hidden="true"], script, style, noscript, code, pre, kbd, [translate="no"]')) return;
      for (const name of ['aria-label', 'title', 'placeholder', 'alt']) {
        const before = depth;
        depth = 0;
        found.push(outside(node.getAttribute(name) ?? ''));
        depth = before;
      }
    }
    if (node instanceof Text) found.push(outside(node.data));
    node.childNodes.forEach(walk);
  };
  walk(document.body);
  if (depth !== 0) found.push(`brackets that do not close: ${depth}`);
  return found;
}

/** The sentences of the page that no dictionary has. */
export async function unsaid(page: Page, data: ReadonlySet<string>): Promise<string[]> {
  const texts = await page.evaluate(wordsOutside);
  const sent = [...data].join('\n').replaceAll('**', '');
  const parts = texts
    .flatMap((text) => text.split(/ · |[·:,()…/;“”"→{}\n]+|\s'|'\s/))
    .map((part) => part.replaceAll('**', '').trim());
  return [...new Set(parts)].filter((part) => /[a-z]{2,}/i.test(part) && !isValue(part, sent));
}

/** Whether it was sent, or is a size or a name of the product. */
function isValue(part: string, sent: string): boolean {
  // Events are called by the names they have in the API; a task in a list has its number before it.
  if (/^[a-z]+(_[a-z]+)+$/.test(part) || sent.includes(part.replace(/^\d+ /, ''))) return true;
  if (/^[\d.,]+ ?(k?B|MB)$/.test(part)) return true;
  if (/^(Consort|English|Deutsch|MCP|API|JSON)$/.test(part)) return true;
  // Tools of others are named as `kitchen.prepare-meal`, tags as `#food`; an expression is an example.
  if (/^#?[\w-]+(\.[\w-]+)*$/.test(part) && part.split(/[#.]/).every((name) => sent.includes(name))) return true;
  return /^outputs\.|^bug'$/.test(part);
}
