// `make screenshots`: every page, light and dark, wide and narrow, into target/screenshots, to be looked at; with
// CONSORT_PAGES those whose names this expression matches. Those that the guide shows are drawn into docs/screenshots too.

import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { it } from 'vitest';
import { launch, open } from './browser';
import { EXTREME_SCRIPT, extremes } from './extremes';
import { fakeModel } from './model';
import { SCRIPT, stage } from './pages';

const FOLDER = resolve(import.meta.dirname, '../../target/screenshots');
const GUIDE = resolve(import.meta.dirname, '../../docs/screenshots');
const WANTED = new RegExp(process.env['CONSORT_PAGES'] ?? '');

it('draws every page', async () => {
  mkdirSync(FOLDER, { recursive: true });
  const drawn = new Set<string>();
  const browser = await launch();
  const models = await Promise.all([fakeModel(SCRIPT), fakeModel(EXTREME_SCRIPT)]);
  const [usual, extreme] = [await stage(models[0]), await extremes(models[1])];
  const all = [...usual.pages.map((page) => ({ ...page, path: usual.server.url + page.path })), ...extreme.pages];
  for (const scheme of ['light', 'dark'] as const) {
    for (const [width, height] of [
      [1440, 900],
      [390, 844],
    ] as const) {
      const { page, context } = await open(browser, { scheme, width, height });
      for (const { name, path, ready } of all.filter((each) => WANTED.test(each.name))) {
        await page.goto(path);
        const isThere = page.getByText(ready).first().waitFor({ state: 'attached', timeout: 10_000 });
        await isThere.catch(() => console.warn(`${name}: no “${ready}”`));
        // Long enough for what is loaded after the page, such as charts.
        await page.waitForTimeout(700);
        const file = `${name}-${scheme}-${width}.png`;
        await page.screenshot({ path: `${FOLDER}/${file}` });
        drawn.add(file);
      }
      await context.close();
    }
  }
  // Not those of an earlier time.
  for (const name of readdirSync(GUIDE).filter((each) => drawn.has(each)))
    copyFileSync(`${FOLDER}/${name}`, `${GUIDE}/${name}`);
  await browser.close();
  await Promise.all([usual.stop(), extreme.stop(), ...models.map((model) => model.close())]);
});
