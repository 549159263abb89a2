// What can be done about a run beside the words that say what it waits for.

import { expect, it } from 'vitest';
import { barriers } from './axe';
import { open } from './browser';
import { config, Consort } from './server';
import { browser, model, server, withServer } from './setting';

withServer();
it('a paused run goes on from the line that says so', async () => {
  const run = await server.submit({
    tasks: [
      { name: 'first', description: '[hold] Before the pause' },
      { name: 'second', description: 'Second', context: ['$first'] },
    ],
  });
  await server.call('POST', `/api/runs/${run}/pause`);
  const { page, context, complaints } = await open(browser);
  await page.goto(`${server.url}/runs/${run}/graph`);
  await page.getByText('Pausing: what has begun is finished first').waitFor();
  model.release('Before the pause');
  await page.locator('header').getByRole('status').getByText('Paused', { exact: true }).waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.getByText('All 2 tasks are done').waitFor();
  await expect.poll(() => page.getByRole('button', { name: 'Go on' }).count()).toBe(0);
  expect(complaints).toEqual([]);
  await context.close();
});

it('a retry can allow a task more rounds', async () => {
  const run = await server.finish({ tasks: [{ name: 'flaky', description: '[fail 4] Try' }] });
  const { page, context, complaints } = await open(browser);
  await page.goto(`${server.url}/runs/${run}/graph`);
  await page.getByRole('button', { name: 'Retry with…' }).click();
  await page.getByRole('combobox', { name: 'Change a task' }).click();
  await page.getByRole('option', { name: 'flaky' }).click();
  await page.getByRole('textbox', { name: 'Rounds at most' }).fill('7 rounds');
  expect(await barriers(page)).toEqual([]);
  const asked = page.waitForRequest((request) => request.url().endsWith('/retry'));
  await page.getByRole('button', { name: 'Retry', exact: true }).last().click();
  expect((await asked).postDataJSON()).toEqual({ taskOverrides: { flaky: { maxIterations: 7 } } });
  await page.getByText('Its task is done').waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

it('a model that fails again and again is given up, which fails its task', async () => {
  const run = await server.submit({ tasks: [{ name: 'stubborn', description: '[fail 99] [later 90] Insist' }] });
  const { page, context, complaints } = await open(browser);
  await page.goto(`${server.url}/runs/${run}/graph`);
  await page.getByRole('button', { name: 'Give up this call' }).click();
  const dialog = page.getByRole('dialog', { name: 'Give up this call?' });
  await dialog.getByText(/swift is not asked again for this call/).waitFor();
  expect(await barriers(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Give up' }).click();
  await page.getByText('Failed', { exact: true }).first().waitFor();
  await page.getByRole('button', { name: 'Retry with…' }).waitFor();
  expect(await server.call('GET', `/api/runs/${run}`)).toMatchObject({
    status: 'FAILED',
    tasks: [{ error: expect.stringContaining('given up by local') }],
  });
  expect(complaints).toEqual([]);
  await context.close();
});

it('a model that says nothing is left for another one at once', async () => {
  const before = model.asked.length;
  const run = await server.submit({
    tasks: [{ name: 'silent', description: '[hang 1] Wait [say Here I am.]', model: 'swift' }],
  });
  const { page, context, complaints } = await open(browser);
  await page.goto(`${server.url}/runs/${run}/outputs`);
  await page.locator('header').getByRole('status').getByText('silent waits for swift to answer').waitFor();
  await expect.poll(() => model.asked.length).toBe(before + 1);
  await page.locator('header').getByRole('button', { name: 'Switch the model' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Switch the model' });
  await dialog.getByRole('combobox', { name: 'Model' }).click();
  await page.getByRole('option', { name: /deep/ }).click();
  await dialog.getByRole('checkbox', { name: /Give up the calls under way/ }).check();
  await dialog.getByRole('button', { name: 'Switch', exact: true }).click();
  await page.getByText('Its task is done').waitFor();
  expect(model.asked.map(({ model: asked }) => asked).slice(-2)).toEqual(['swift', 'deep']);
  expect(complaints).toEqual([]);
  await context.close();
});

it('a run that has used up its budget says no more calls than it made', async () => {
  const tight = await Consort.start(config(model.url, '[run.budget]\nmax_total_llm_calls = 2\n'));
  const run = await tight.finish({ tasks: ['a', 'b', 'c'].map((name) => ({ name, description: name })) });
  const { page, context, complaints } = await open(browser);
  await page.goto(`${tight.url}/runs/${run}/events`);
  const said = 'The budget is used up: 2 model calls allowed, and continuing would make it 3';
  await page.locator('header').getByRole('status').getByText(said, { exact: true }).waitFor();
  await page
    .getByRole('link', { name: /budget_exceeded/ })
    .getByText(said)
    .waitFor();
  await page
    .locator('dl > div')
    .filter({ hasText: /^Model calls\s*2$/ })
    .waitFor();
  await page.getByText('A retry keeps what is done, and has a budget of its own.').waitFor();
  expect(complaints).toEqual([]);
  await context.close();
  await tight.stop();
});

it('a run that has a budget is allowed more while it lasts', async () => {
  const tight = await Consort.start(config(model.url, '[run.budget]\nmax_total_llm_calls = 1\nmax_cost_usd = 5.0\n'));
  const run = await tight.submit({
    tasks: [
      { name: 'first', description: '[hold] Before the raise' },
      { name: 'second', description: 'Second', context: ['$first'] },
    ],
  });
  const { page, context, complaints } = await open(browser);
  await page.goto(`${tight.url}/runs/${run}/graph`);
  await page.getByRole('button', { name: 'Raise the budget' }).click();
  const dialog = page.getByRole('dialog', { name: 'Raise the budget' });
  await dialog.getByLabel('Model calls').fill('2');
  expect(await barriers(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Raise it' }).click();
  await dialog.waitFor({ state: 'detached' });
  model.release('Before the raise');
  await page.getByText('All 2 tasks are done').waitFor();
  expect(await tight.call('GET', `/api/runs/${run}`)).toMatchObject({ limits: { maxTotalLlmCalls: 2 } });
  expect(complaints).toEqual([]);
  await context.close();
  await tight.stop();
});
