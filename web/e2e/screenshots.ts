// `make screenshots`: every page, light and dark, wide and narrow, into docs/screenshots; with CONSORT_PAGES those whose
// names this expression matches.

import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { it } from 'vitest';
import { launch, open } from './browser';
import { fakeModel } from './model';
import { SCRIPT, stage } from './pages';

const FOLDER = resolve(import.meta.dirname, '../../docs/screenshots');
const WANTED = new RegExp(process.env['CONSORT_PAGES'] ?? '');

it('draws every page', async () => {
  mkdirSync(FOLDER, { recursive: true });
  const [browser, model] = await Promise.all([launch(), fakeModel(SCRIPT)]);
  const { server, pages, stop } = await stage(model);
  for (const scheme of ['light', 'dark'] as const) {
    for (const [width, height] of [
      [1440, 900],
      [390, 844],
    ] as const) {
      const { page, context } = await open(browser, { scheme, width, height });
      for (const { name, path, ready } of pages.filter((each) => WANTED.test(each.name))) {
        await page.goto(server.url + path);
        await page.getByText(ready).first().waitFor({ state: 'attached' });
        // Long enough for what is loaded after the page, such as charts.
        await page.waitForTimeout(700);
        await page.screenshot({ path: `${FOLDER}/${name}-${scheme}-${width}.png` });
      }
      await context.close();
    }
  }
  await browser.close();
  await stop();
  await model.close();
});
