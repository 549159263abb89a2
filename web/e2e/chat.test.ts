import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { launch, open, type Opened } from './browser';
import { type FakeModel, fakeModel } from './model';
import { config, Consort } from './server';

let browser: Browser;
let model: FakeModel;
let server: Consort;
let opened: Opened;
let page: Page;

const SCRIPT = {
  'Compare the hives': '[call run_subtask {"title":"Hive one","instructions":"Look at the first hive"}] [call run_subtask {"title":"Hive two","instructions":"Look at the second hive"}] [say Both hives are **fine**.]',
  'Look at the first hive': '[call calculator {"input":"6 * 7"}] [words 30] [pace 20]',
  'Look at the second hive': '[call calculator {"input":"5 * 5"}] [words 10]',
  'Order honey': '[call order_honey {"jars": 3}] [say It is settled.]',
};

beforeAll(async () => {
  [browser, model] = await Promise.all([launch(), fakeModel(SCRIPT)]);
  const tool = `[tools.http.order_honey]\ndescription = "Orders honey"\nurl = "${model.url.replace('/v1', '/tool')}"\ninput_schema = { type = "object", properties = { jars = { type = "integer" } } }\npermission = "network"\neffect = "once"\n`;
  server = await Consort.start(config(model.url, tool));
});

afterAll(async () => {
  await browser.close();
  await server.stop();
  await model.close();
});

beforeEach(async () => {
  opened = await open(browser);
  page = opened.page;
  await page.goto(`${server.url}/chat`);
});

afterEach(async () => {
  await opened.context.close();
  expect(opened.complaints).toEqual([]);
});

async function say(text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/chat\/(?!new)/);
}

const talk = (): ReturnType<Page['locator']> => page.getByRole('log');
const cost = (): ReturnType<Page['locator']> => talk().locator('footer').last();

describe('a conversation', () => {
  it('streams, and nests the calls of parallel subtasks, the same after a reload', async () => {
    await say('Compare the hives');
    await talk().getByRole('button', { name: /Hive one/ }).waitFor();
    await talk().getByRole('button', { name: /Hive two/ }).waitFor();
    await talk().getByText('Both hives are fine.').waitFor();
    await cost().getByText('2 subtasks').waitFor();
    expect(await talk().getByRole('button', { name: /calculator/ }).count()).toBe(0);
    await talk().getByRole('button', { name: /Hive one/ }).click();
    await talk().getByRole('button', { name: /calculator.*42/ }).waitFor();
    const cards = async (): Promise<string[]> => talk().getByRole('button').allInnerTexts();
    const live = await cards();
    await page.reload();
    await talk().getByRole('button', { name: /Hive one/ }).click();
    await expect.poll(cards).toEqual(live);
    await cost().getByText('2 subtasks').waitFor();
  });

  it('asks before an effect with the exact arguments, and does or leaves it as told', async () => {
    await say('Order honey');
    const question = page.getByRole('alertdialog', { name: 'May order_honey be called?' });
    await question.getByText('jars: 3').waitFor();
    await talk().getByRole('button', { name: /Waiting.*order_honey/ }).waitFor();
    await page.getByRole('link', { name: /Chat.*1 waiting/ }).waitFor();
    await question.getByRole('button', { name: 'Deny' }).click();
    await talk().getByText('It is settled.').waitFor();
    await talk().getByText('local denied it').waitFor();
    await say('Order honey again');
    await question.getByRole('button', { name: 'Allow once' }).click();
    await expect.poll(() => talk().getByText('It is settled.').count()).toBe(2);
    await talk().getByRole('button', { name: /order_honey.*done/ }).waitFor();
  });

  it('is stopped, and what was said while it ran takes its turn or its place', async () => {
    await say('[words 3000] [pace 30] Tell a long story');
    await talk().getByText(/word\d+ /).waitFor();
    await page.getByRole('combobox', { name: 'Permission mode' }).click();
    await page.getByRole('option', { name: 'Plan: no effects' }).click();
    await talk().getByText('local changed the mode: no effects').waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill('[say Later.] And then?');
    await page.getByRole('button', { name: 'Queue' }).click();
    await talk().getByText('Waits for its turn').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await talk().getByText('Stopped', { exact: true }).waitFor();
    await talk().getByText('Later.', { exact: true }).waitFor();
    await say('[words 3000] [pace 30] Another story');
    await talk().getByText(/word\d+ /).last().waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill('[say At once.] No, this');
    await page.getByRole('button', { name: 'Interrupt' }).click();
    await talk().getByText('At once.', { exact: true }).waitFor();
  });
});
