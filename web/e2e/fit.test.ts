import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { enter, open, type Opened } from './browser';
import { browser, model, server, withServer } from './setting';

const SIZES = [
  { width: 1440, height: 900 },
  { width: 1440, height: 600 },
  { width: 390, height: 844 },
];
/** Wide enough for a room that fills the window. */
const WIDE = SIZES.filter(({ width }) => width > 1_000);
/** Many times as high as any of the windows. */
const LONG = '[words 2000]';

withServer();
async function opened(size: { width: number; height: number }, test: (page: Page) => Promise<void>): Promise<void> {
  const { page, context, complaints }: Opened = await open(browser, size);
  await test(page);
  expect(complaints).toEqual([]);
  await context.close();
}

/** Whether all of it is inside the window, without scrolling. */
async function isInSight(page: Page, found: Locator): Promise<boolean> {
  await found.waitFor();
  const box = await found.boundingBox();
  const { width, height } = page.viewportSize() ?? { width: 0, height: 0 };
  return box !== null && box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height;
}

/** Pixels below what is seen of a box. */
const below = (box: Locator): Promise<number> =>
  box.evaluate((at) => Math.round(at.scrollHeight - at.scrollTop - at.clientHeight));
/** Pixels the window itself could be scrolled. */
const outside = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollHeight - innerHeight);

describe.each(SIZES)('at $width by $height pixels', (size) => {
  it('a chat longer than the window keeps its composer and follows the last word', () =>
    opened(size, async (page) => {
      await page.goto(`${server.url}/chat/new`);
      const message = page.getByRole('textbox', { name: 'Message' });
      const log = page.getByRole('log');
      const latest = page.getByRole('button', { name: 'Jump to latest' });
      const story = `Tell a story at ${size.width} by ${size.height}`;
      await enter(message, `[words 3000] [hold 900 2000] ${story}`);
      await log.getByText(/word900\b/).waitFor();
      expect(await isInSight(page, message)).toBe(true);
      const stop = page.getByRole('button', { name: 'Stop' });
      expect(await isInSight(page, stop)).toBe(true);
      // A finger needs more room than a pointer.
      if (size.width < 1_000) expect((await stop.boundingBox())?.height).toBeGreaterThanOrEqual(40);
      await expect.poll(() => below(log)).toBeLessThan(2);
      expect(await outside(page)).toBe(0);
      await expect.poll(() => latest.count()).toBe(0);

      await log.hover();
      await page.mouse.wheel(0, -300);
      await latest.waitFor();
      // All of the way: a wheel may be followed slowly.
      await expect.poll(() => below(log)).toBeGreaterThan(298);
      const top = await log.evaluate((at) => at.scrollTop);
      model.release(story);
      await log.getByText(/word2000\b/).waitFor();
      expect(Math.abs((await log.evaluate((at) => at.scrollTop)) - top)).toBeLessThan(2);
      expect(await isInSight(page, latest)).toBe(true);
      await latest.click();
      await expect.poll(() => below(log)).toBeLessThan(2);
      await latest.waitFor({ state: 'detached' });

      await page.getByRole('button', { name: 'Stop' }).click();
      await log.getByText('Stopped', { exact: true }).waitFor();
      await page.reload();
      await log.getByText(/word900\b/).waitFor();
      await expect.poll(() => below(log)).toBeLessThan(2);
      expect(await isInSight(page, message)).toBe(true);
      const send = await page.getByRole('button', { name: 'Send', exact: true }).boundingBox();
      if (size.width < 1_000) expect(send?.height).toBeGreaterThanOrEqual(40);
    }));

  it('a chat stays at the last word when its content becomes shorter and longer at once', () =>
    opened(size, async (page) => {
      await page.goto(`${server.url}/chat/new`);
      await enter(page.getByRole('textbox', { name: 'Message' }), LONG);
      const log = page.getByRole('log');
      await log.getByText(/word2000\b/).waitFor();
      const grow = (...heights: number[]): Promise<void> =>
        log.evaluate((at, wanted) => {
          const last = at.firstElementChild?.lastElementChild as HTMLElement;
          for (const height of wanted) {
            last.style.paddingBottom = `${height}px`;
            // What is shown has this height before it gets the next one.
            at.getBoundingClientRect();
          }
        }, heights);
      await grow(600);
      await expect.poll(() => below(log)).toBeLessThan(2);
      await grow(0, 300);
      await expect.poll(() => below(log)).toBeLessThan(2);
      expect(await page.getByRole('button', { name: 'Jump to latest' }).count()).toBe(0);
    }));

  it('a long review keeps its buttons, in the inbox and on the page of its run', () =>
    opened(size, async (page) => {
      const run = await server.submit({ tasks: [{ name: 'draft', description: `${LONG} Draft`, review: 'required' }] });
      for (const path of [`/reviews/${run}-review-0`, '/reviews', `/runs/${run}/graph?review=${run}-review-0`]) {
        await page.goto(server.url + path);
        await page.getByText('word2000').waitFor();
        for (const name of ['Approve', 'End the run here'])
          expect([path, name, await isInSight(page, page.getByRole('button', { name }))]).toEqual([path, name, true]);
      }
      await server.call('POST', `/api/runs/${run}/cancel`, { mode: 'now' });
      await expect.poll(() => server.call('GET', '/api/reviews')).toMatchObject({ total: 0 });
    }));

  it('the chat beside a canvas keeps its composer', () =>
    opened(size, async (page) => {
      await page.goto(`${server.url}/workflows/new?panel=chat`);
      const message = page.getByRole('textbox', { name: 'Message' });
      await enter(message, `${LONG} Tell a long story`);
      const log = page.getByRole('log');
      await log.getByText('word2000').waitFor();
      await expect.poll(() => below(log)).toBeLessThan(2);
      await message.scrollIntoViewIfNeeded();
      expect(await isInSight(page, message)).toBe(true);
    }));
});

it('no room that scrolls inside itself is higher than the window', async () => {
  const tasks = Array.from({ length: 30 }, (_, task) => ({
    name: `task ${task}`,
    description: `${LONG} Tell ${task}`,
  }));
  const run = await server.finish({ tasks, options: { workflow: 'PARALLEL' } });
  const rooms = ['graph', 'timeline', 'conversation', 'events', 'outputs'].map((tab) => `/runs/${run}/${tab}`);
  const { page, context, complaints, settled } = await open(browser);
  const too: string[] = [];
  for (const path of [
    ...rooms,
    `/runs/${run}/events?event=3`,
    `/runs/${run}/graph?task=3`,
    '/network',
    '/workflows/new',
    '/reviews',
    '/chat',
  ]) {
    await page.goto(server.url + path);
    await page.locator('#main > *').first().waitFor();
    for (const size of WIDE) {
      await page.setViewportSize(size);
      await settled();
      const height = await outside(page);
      if (height > 0) too.push(`${path}: ${height} pixels at ${size.height}`);
    }
  }
  expect(too).toEqual([]);
  expect(complaints).toEqual([]);
  await context.close();
});
