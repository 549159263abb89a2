// The barriers axe-core finds on a page that keep people from using it.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Rules held to whatever axe thinks of their impact. */
const HELD = ['target-size', 'heading-order'];

/** The rules a page is held to: all of them, or those for what differs from a page that was held to all. */
const RULES = { all: undefined, colours: ['color-contrast'], words: HELD };

interface Finding {
  id: string;
  impact: string;
  nodes: { target: string[]; html: string }[];
}

interface Axe {
  run: (options: object) => Promise<{ violations: Finding[] }>;
}

/** The serious findings and worse, and those of the rules above, each with its place. */
export async function barriers(page: Page, rules: keyof typeof RULES = 'all'): Promise<string[]> {
  // Evaluated over the debugging protocol, which the page's policy does not bind.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE);
  const findings = await page.evaluate(
    async (only) =>
      (
        await (window as unknown as { axe: Axe }).axe.run({
          rules: { 'target-size': { enabled: true } },
          // What passes is not described, which takes longer than finding it.
          resultTypes: ['violations'],
          ...(only ? { runOnly: only } : {}),
        })
      ).violations,
    RULES[rules],
  );
  return findings
    .filter(({ id, impact }) => impact === 'serious' || impact === 'critical' || HELD.includes(id))
    .map(
      ({ id, nodes }) =>
        `${id} at ${nodes
          .slice(0, 3)
          .map(({ target, html }) => `${target.join(' ')} ${html.slice(0, 160)}`)
          .join(', ')}`,
    );
}
