import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launch, open } from './browser';
import { type FakeModel, fakeModel } from './model';
import { config, Consort } from './server';

let browser: Browser;
let model: FakeModel;
let server: Consort;

beforeAll(async () => {
  [browser, model] = await Promise.all([launch(), fakeModel()]);
  server = await Consort.start(config(model.url));
});

afterAll(async () => {
  await browser.close();
  await server.stop();
  await model.close();
});

const NODES_MAX = 3_000;
const nodes = 'document.querySelectorAll("*").length';

describe('a run of a hundred thousand events', () => {
  it('opens by its end, scrolls anywhere and keeps the page small', async () => {
    const tasks = Array.from({ length: 40 }, (_, task) => ({ name: `task ${task}`, description: `[loop 5 calculator 255] Count ${task}`, tools: ['calculator'] }));
    const run = await server.finish({ tasks, options: { workflow: 'PARALLEL' } });
    const { eventCount, status } = (await server.call('GET', `/api/runs/${run}`)) as { eventCount: number; status: string };
    expect(status).toBe('COMPLETED');
    expect(eventCount).toBeGreaterThan(100_000);

    const { page, complaints } = await open(browser);
    const began = Date.now();
    await page.goto(`${server.url}/runs/${run}/graph`);
    await page.getByRole('button', { name: /task 39/ }).waitFor();
    expect(Date.now() - began).toBeLessThan(10_000);
    await page.getByText(/Details from event/).waitFor();
    expect(await page.evaluate(nodes)).toBeLessThan(NODES_MAX);

    await page.goto(`${server.url}/runs/${run}/events?event=60000`);
    const list = page.getByRole('region', { name: 'Events' });
    await list.getByText('60000', { exact: true }).waitFor();
    await page.getByRole('heading', { name: /^#60000 [a-z_]+$/ }).waitFor();
    await list.evaluate((box) => { box.scrollTop = box.scrollHeight; });
    await list.getByText('ensemble_completed').waitFor();
    await list.evaluate((box) => { box.scrollTop = 0; });
    await list.getByText('run_accepted').waitFor();
    expect(await page.evaluate(nodes)).toBeLessThan(NODES_MAX);

    await page.getByRole('link', { name: 'Timeline' }).click();
    await page.getByRole('region', { name: 'Timeline' }).getByRole('link', { name: 'task 5', exact: true }).waitFor();
    expect(await page.evaluate(nodes)).toBeLessThan(NODES_MAX);
    expect(complaints).toEqual([]);
  }, 300_000);
});

describe('an answer of a hundred thousand deltas', () => {
  it('leaves the memory of the page flat', async () => {
    const { page, context } = await open(browser);
    const session = await context.newCDPSession(page);
    const heap = async (): Promise<number> => {
      await session.send('HeapProfiler.collectGarbage');
      const { usedSize } = await session.send('Runtime.getHeapUsage');
      return usedSize / 1e6;
    };
    const run = await server.submit({ tasks: [{ name: 'flood', description: '[words 100000] Go' }] });
    await page.goto(`${server.url}/runs/${run}/graph`);
    await page.getByRole('button', { name: /flood/ }).waitFor();
    const before = await heap();
    await page.getByText('Completed', { exact: true }).first().waitFor({ timeout: 200_000 });
    expect((await heap()) - before).toBeLessThan(25);
  }, 300_000);
});
