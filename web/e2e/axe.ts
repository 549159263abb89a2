// The barriers axe-core finds on a page that keep people from using it.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Rules held to whatever axe thinks of their impact. */
const HELD = new Set(['target-size', 'heading-order']);

interface Finding {
  id: string;
  impact: string;
  nodes: { target: string[]; html: string }[];
}

/**
 * The serious findings and worse, and those of the rules above, each with its place; of the rules above alone where only
 * the length of the words differs from a page that was looked at.
 */
export async function barriers(page: Page, rules: 'all' | 'held' = 'all'): Promise<string[]> {
  // Evaluated over the debugging protocol, which the page's policy does not bind.
  await page.evaluate(AXE);
  const findings = await page.evaluate(
    async (only) =>
      (
        await (window as unknown as { axe: { run: (options: object) => Promise<{ violations: Finding[] }> } }).axe.run({
          rules: { 'target-size': { enabled: true } },
          // What passes is not described, which takes longer than finding it.
          resultTypes: ['violations'],
          ...(only ? { runOnly: only } : {}),
        })
      ).violations,
    rules === 'held' ? [...HELD] : undefined,
  );
  return findings
    .filter(({ id, impact }) => impact === 'serious' || impact === 'critical' || HELD.has(id))
    .map(
      ({ id, nodes }) =>
        `${id} at ${nodes
          .slice(0, 3)
          .map(({ target, html }) => `${target.join(' ')} ${html.slice(0, 160)}`)
          .join(', ')}`,
    );
}
