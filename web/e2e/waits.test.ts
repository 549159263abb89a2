import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launch, open } from './browser';
import { type FakeModel, fakeModel } from './model';
import { Consort } from './server';

let browser: Browser;
let model: FakeModel;
let server: Consort;

const CONFIG = (url: string): string => `
[server]
max_concurrent_runs = 2
max_queued_runs = 5

[models.rare]
provider = "openai"
model = "rare"
base_url = "${url}"
api_key = "none"
rate = "1/min"

[models.flaky]
provider = "openai"
model = "flaky"
base_url = "${url}"
api_key = "none"
retries = 8
`;

beforeAll(async () => {
  [browser, model] = await Promise.all([launch(), fakeModel()]);
  server = await Consort.start(CONFIG(model.url));
});

afterAll(async () => {
  await browser.close();
  await server.stop();
  await model.close();
});

describe('a run that does not get on', () => {
  it('says why: the limit of its model, a model that fails, the queue', async () => {
    const rated = await server.submit({
      tasks: [
        { name: 'a', description: 'A', model: 'rare' },
        { name: 'b', description: 'B', model: 'rare' },
      ],
    });
    const failing = await server.submit({ tasks: [{ name: 'a', description: '[fail 99] A', model: 'flaky' }] });
    const queued = await server.submit({ tasks: [{ name: 'a', description: 'A', model: 'flaky' }] });
    const { page, context, complaints } = await open(browser);
    const says = (text: string | RegExp): Promise<void> =>
      page.locator('header').getByRole('status').getByText(text).waitFor();

    await page.goto(`${server.url}/runs/${rated}/graph`);
    await says('The run waits for a free slot or the rate limit of its model');
    await page.goto(`${server.url}/runs/${queued}/graph`);
    await says('Waits in the queue, next to start');
    await page.goto(`${server.url}/runs/${failing}/timeline`);
    await says(/^flaky failed \(HTTP 503: the model is overloaded\); tries again · \d+:\d\d · try \d of 9$/);
    await page.getByRole('button', { name: 'Switch the model' }).click();
    await page.getByRole('dialog', { name: 'Switch the model' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Parts of a' }).click();
    await page.getByRole('link', { name: 'failed: HTTP 503: the model is overloaded' }).first().waitFor();

    await page.goto(`${server.url}/runs`);
    await page.getByText('in the queue, next').waitFor();
    await page.getByText('waits for its model').waitFor();
    await page.getByText('waits to try again').waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });
});
