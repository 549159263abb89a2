import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launch, open } from './browser';
import { type FakeModel, fakeModel } from './model';
import { SCRIPT, stage, type Stage } from './pages';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Long enough for what is loaded after the page, such as charts. */
const SETTLED_MS = 500;

interface Finding {
  id: string;
  impact: string;
  nodes: { target: string[] }[];
}

let browser: Browser;
let model: FakeModel;
let staged: Stage;

beforeAll(async () => {
  [browser, model] = await Promise.all([launch(), fakeModel(SCRIPT)]);
  staged = await stage(model);
});

afterAll(async () => {
  await browser.close();
  await staged.stop();
  await model.close();
});

describe('every page', () => {
  it.each([
    { scheme: 'light' as const, width: 1440 },
    { scheme: 'dark' as const, width: 1440 },
    { scheme: 'light' as const, width: 390 },
  ])('is usable by everybody: $scheme, $width pixels wide', async ({ scheme, width }) => {
    const { page, context, complaints } = await open(browser, { scheme, width, height: 860 });
    const found: string[] = [];
    for (const { name, path, ready } of staged.pages) {
      await page.goto(staged.server.url + path);
      await page.getByText(ready).first().waitFor({ state: 'attached' });
      await page.waitForTimeout(SETTLED_MS);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (overflow > 0) found.push(`${name}: ${overflow} pixels too wide`);
      // Evaluated over the debugging protocol, which the page's policy does not bind.
      await page.evaluate(AXE);
      const findings = await page.evaluate(async () => (await (window as unknown as { axe: { run: () => Promise<{ violations: Finding[] }> } }).axe.run()).violations);
      for (const { id, impact, nodes } of findings) {
        if (impact === 'serious' || impact === 'critical') found.push(`${name}: ${id} at ${nodes.slice(0, 3).map(({ target }) => target.join(' ')).join(', ')}`);
      }
    }
    expect(found).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  }, 240_000);
});
