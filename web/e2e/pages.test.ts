import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { barriers } from './axe';
import { launch, open } from './browser';
import { type FakeModel, fakeModel } from './model';
import { SCRIPT, stage, type Stage } from './pages';

type Look = { scheme: 'light' | 'dark'; width: number };

/** The first two have every scheme and every width; `make chaos` looks at the others as well. */
const LOOKS: Look[] = [
  { scheme: 'light', width: 1440 },
  { scheme: 'dark', width: 390 },
  { scheme: 'dark', width: 1440 },
  { scheme: 'light', width: 390 },
];
const looks = process.env['CONSORT_ALL_LOOKS'] ? LOOKS : LOOKS.slice(0, 2);

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
  it.each(looks)(
    'is usable by everybody: $scheme, $width pixels wide',
    async ({ scheme, width }) => {
      const { page, context, complaints, settled } = await open(browser, { scheme, width, height: 860 });
      const found: string[] = [];
      for (const { name, path, ready } of staged.pages) {
        await page.goto(staged.server.url + path);
        await page.getByText(ready).first().waitFor({ state: 'attached' });
        await settled();
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (overflow > 0) found.push(`${name}: ${overflow} pixels too wide`);
        for (const barrier of await barriers(page)) found.push(`${name}: ${barrier}`);
      }
      expect(found).toEqual([]);
      expect(complaints).toEqual([]);
      await context.close();
    },
    300_000,
  );
});
