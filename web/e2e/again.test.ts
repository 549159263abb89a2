import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { barriers } from './axe';
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

describe('a run that is over', () => {
  it('is retried, forked from an event and downloaded as a trace', async () => {
    // Four refusals use up the tries of one run; the retry is answered.
    const run = await server.finish({ tasks: [{ name: 'good', description: 'Good' }, { name: 'flaky', description: '[fail 4] Try' }] });
    const { page, context, complaints } = await open(browser);
    await page.goto(`${server.url}/runs/${run}/graph`);
    await page.getByText('Failed', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.getByRole('link', { name: `retry of ${run.slice(-6)}` }).waitFor();
    await page.getByText('Completed', { exact: true }).first().waitFor();

    await page.getByRole('button', { name: 'More about this run' }).click();
    const saved = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'Download the trace' }).click();
    const trace = JSON.parse(readFileSync(await (await saved).path(), 'utf8')) as { taskTraces: unknown[] };
    expect(trace.taskTraces.length).toBe(2);

    await page.goto(`${server.url}/runs/${run}/events?event=3`);
    await page.getByRole('button', { name: 'Fork before this event' }).click();
    await page.getByRole('dialog', { name: 'Fork this run' }).waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.getByRole('combobox', { name: 'Model' }).click();
    await page.getByRole('option', { name: 'deep' }).click();
    await page.getByRole('button', { name: 'Fork', exact: true }).click();
    await page.getByRole('link', { name: new RegExp(`forked from ${run.slice(-6)}`) }).waitFor();
    await page.getByText('Completed', { exact: true }).first().waitFor();
    expect(model.asked.at(-1)?.model).toBe('deep');
    expect(complaints).toEqual([]);
    await context.close();
  });
});
