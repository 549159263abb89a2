// Pages with too much on them, and with nothing: none is wider than its window, and everybody can use them.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { barriers } from './axe';
import { open } from './browser';
import { EXTREME_SCRIPT, extremes, type Extremes } from './extremes';
import { browser, model, withModel } from './setting';

const WIDTHS = [1440, 390];
const HEIGHT = 860;
/** Long enough for a page on a busy machine; one that does not come is named with the others. */
const READY_MS = 20_000;

withModel(EXTREME_SCRIPT);

let staged: Extremes;

beforeAll(async () => {
  staged = await extremes(model);
});
afterAll(() => staged.stop());

it('pages with long titles, endless words and many of everything fit their windows, and so do empty ones', async () => {
  const { page, context, settled } = await open(browser, { height: HEIGHT });
  const found: string[] = [];
  for (const { name, path, ready } of staged.pages) {
    await page.setViewportSize({ width: WIDTHS[0] ?? 0, height: HEIGHT });
    await page.goto(path);
    const isThere = page.getByText(ready).first().waitFor({ state: 'attached', timeout: READY_MS });
    await isThere.catch(() => found.push(`${name}: no “${ready}”`));
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: HEIGHT });
      await settled();
      const pixels = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (pixels > 0) found.push(`${name} at ${width}: ${pixels} pixels too wide`);
      for (const barrier of await barriers(page)) found.push(`${name} at ${width}: ${barrier}`);
    }
  }
  expect(found).toEqual([]);
  await context.close();
});
