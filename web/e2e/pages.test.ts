// Every page, wide and narrow, light and dark. What a page is made of does not depend on the colours, so that each is opened
// once and then resized and coloured anew; `make chaos` opens it for every look.

import type { Page } from 'playwright-core';
import { matchPath } from 'react-router';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PAGES } from '../src/app/pages';
import { barriers } from './axe';
import { open, type Opened } from './browser';
import { SCRIPT, stage, type Shown, type Stage } from './pages';
import { browser, model, withModel } from './setting';

const WIDTHS = [1440, 390];
const SCHEMES = ['light', 'dark'] as const;
const HEIGHT = 860;

withModel(SCRIPT);

let staged: Stage;

beforeAll(async () => {
  staged = await stage(model);
});
afterAll(() => staged.stop());

async function visit({ page, settled }: Opened, { path, ready }: Shown): Promise<void> {
  await page.goto(staged.server.url + path);
  await page.getByText(ready).first().waitFor({ state: 'attached' });
  await settled();
}

/** Changes the colours, and returns when none is on its way from one to another. */
async function colour(page: Page, colorScheme: (typeof SCHEMES)[number]): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor({ state: 'attached' });
  await page.evaluate(() =>
    Promise.allSettled(
      document.getAnimations().flatMap((each) => (each instanceof CSSTransition ? [each.finished] : [])),
    ),
  );
}

const overflow = async (page: Page): Promise<string[]> => {
  const pixels = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  return pixels > 0 ? [`${pixels} pixels too wide`] : [];
};

it('every page of the UI is among those that are looked at', () => {
  const isShown = (path: string): boolean =>
    staged.pages.some((shown) => matchPath(path, shown.path.replace(/\?.*/, '')) !== null);
  expect(PAGES.map(({ path }) => path).filter((path) => !isShown(path))).toEqual([]);
});

describe.skipIf(process.env['CONSORT_ALL_LOOKS'])('every page', () => {
  it('is usable by everybody, wide and narrow, light and dark', async () => {
    const opened = await open(browser, { height: HEIGHT });
    const { page, context, complaints, settled } = opened;
    const found: string[] = [];
    for (const shown of staged.pages) {
      await page.setViewportSize({ width: WIDTHS[0] ?? 0, height: HEIGHT });
      await page.emulateMedia({ colorScheme: 'light' });
      await visit(opened, shown);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: HEIGHT });
        await colour(page, 'light');
        await settled();
        const light = [...(await overflow(page)), ...(await barriers(page))];
        await colour(page, 'dark');
        const dark = await barriers(page, 'colours');
        for (const barrier of [...light, ...dark]) found.push(`${shown.name} at ${width}: ${barrier}`);
      }
    }
    expect(found).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });
});

describe.runIf(process.env['CONSORT_ALL_LOOKS'])('every page, opened anew', () => {
  const looks = SCHEMES.flatMap((scheme) => WIDTHS.map((width) => ({ scheme, width })));

  it.each(looks)('is usable by everybody: $scheme, $width pixels wide', async (look) => {
    const opened = await open(browser, { ...look, height: HEIGHT });
    const found: string[] = [];
    for (const shown of staged.pages) {
      await visit(opened, shown);
      const barred = [...(await overflow(opened.page)), ...(await barriers(opened.page))];
      for (const barrier of barred) found.push(`${shown.name}: ${barrier}`);
    }
    expect(found).toEqual([]);
    expect(opened.complaints).toEqual([]);
    await opened.context.close();
  });
});
