import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { barriers } from './axe';
import { launch, open } from './browser';
import { type FakeModel, fakeModel } from './model';
import { SCRIPT, stage, type Stage } from './pages';

/** Long enough for what is loaded after the page, such as charts. */
const SETTLED_MS = 500;

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
  it.concurrent.each([
    { scheme: 'light' as const, width: 1440 },
    { scheme: 'dark' as const, width: 1440 },
    { scheme: 'light' as const, width: 390 },
    { scheme: 'dark' as const, width: 390 },
  ])(
    'is usable by everybody: $scheme, $width pixels wide',
    async ({ scheme, width }) => {
      const { page, context, complaints } = await open(browser, { scheme, width, height: 860 });
      const found: string[] = [];
      for (const { name, path, ready } of staged.pages) {
        await page.goto(staged.server.url + path);
        await page.getByText(ready).first().waitFor({ state: 'attached' });
        await page.waitForTimeout(SETTLED_MS);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (overflow > 0) found.push(`${name}: ${overflow} pixels too wide`);
        for (const barrier of await barriers(page)) found.push(`${name}: ${barrier}`);
      }
      expect(found).toEqual([]);
      expect(complaints).toEqual([]);
      await context.close();
    },
    240_000,
  );
});
