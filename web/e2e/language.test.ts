// The UI in another language, and that nothing on it is said in English only.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { barriers } from './axe';
import { open } from './browser';
import { SCRIPT, stage, type Stage } from './pages';
import { browser, model, withModel } from './setting';
import { addEvents, addKnown, collectData, unsaid } from './unsaid';

/** Pages with little room for long words; `make chaos` looks at all of them. */
const TIGHT = new Set([
  'overview',
  'runs',
  'new-run',
  'run-graph',
  'run-timeline',
  'compare',
  'reviews',
  'chat',
  'workflow',
  'schedules',
  'webhooks',
  'models',
]);

withModel(SCRIPT);

let staged: Stage;

beforeAll(async () => {
  staged = await stage(model);
});
afterAll(() => staged.stop());

describe('every page', () => {
  it('says nothing past the dictionary', async () => {
    const { page, context, complaints, settled } = await open(browser);
    await context.addInitScript(() => localStorage.setItem('consort.language', 'marked'));
    const found: string[] = [];
    const data = new Set<string>();
    await addKnown(staged.server, data);
    const collected = collectData(page, data);
    for (const { name, path } of staged.pages) {
      await page.goto(staged.server.url + path);
      await page.getByText('⟦').first().waitFor({ state: 'attached' });
      await settled();
      await collected();
      await addEvents(staged.server, path, data);
      for (const sentence of await unsaid(page, data)) found.push(`${name}: ${sentence}`);
    }
    expect(found).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('fits a phone in German', async () => {
    const { page, context, complaints, settled } = await open(browser, { width: 390, height: 860, locale: 'de-DE' });
    const found: string[] = [];
    const isAll = process.env['CONSORT_ALL_LOOKS'] !== undefined;
    for (const { name, path } of staged.pages.filter((shown) => isAll || TIGHT.has(shown.name))) {
      await page.goto(staged.server.url + path);
      await page.locator('html[lang="de"] #root h1, html[lang="de"] #root h2').first().waitFor({ state: 'attached' });
      await settled();
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (overflow > 0) found.push(`${name}: ${overflow} pixels too wide`);
      // The same elements as in English, where axe looks at each of them by every rule.
      for (const barrier of await barriers(page, isAll ? 'all' : 'words')) found.push(`${name}: ${barrier}`);
    }
    expect(found).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });
});

describe('the language', () => {
  it('is the browser’s until one is chosen, which holds over a reload and for numbers', async () => {
    const { page, context, complaints } = await open(browser, { locale: 'de-AT' });
    await page.goto(`${staged.server.url}/runs`);
    await page.getByRole('heading', { name: 'Läufe', level: 1 }).waitFor();
    expect(await page.title()).toContain('Läufe');
    await page.getByRole('button', { name: /wer Sie sind/ }).click();
    await page.getByRole('menuitem', { name: 'English' }).click();
    await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
    expect(await page.getAttribute('html', 'lang')).toBe('en');
    await page.getByRole('button', { name: /who you are/ }).click();
    await page.getByRole('menuitem', { name: 'Deutsch' }).click();
    await page.getByRole('link', { name: 'Modelle' }).click();
    await page
      .getByRole('cell', { name: /\$3,00/ })
      .first()
      .waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('that nobody has translated is English', async () => {
    const { page, context } = await open(browser, { locale: 'fr-FR' });
    await page.goto(`${staged.server.url}/models`);
    await page.getByRole('heading', { name: 'Models', level: 1 }).waitFor();
    expect(await page.getAttribute('html', 'lang')).toBe('en');
    await context.close();
  });
});
