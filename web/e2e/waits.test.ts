import { beforeAll, describe, expect, it } from 'vitest';
import { open } from './browser';
import { browser, server, withServer } from './setting';

let rated: string;
let failing: string;
let queued: string;

const CONFIG = (url: string): string => `
[server]
max_concurrent_runs = 2
max_queued_runs = 5

[models.rare]
provider = "openai"
model = "rare"
base_url = "${url}"
api_key = "none"
rate = "1/h"

[models.flaky]
provider = "openai"
model = "flaky"
base_url = "${url}"
api_key = "none"
retries = 8
`;

withServer({ configured: CONFIG });

beforeAll(async () => {
  rated = await server.submit({
    tasks: [
      { name: 'a', description: 'A', model: 'rare' },
      { name: 'b', description: 'B', model: 'rare' },
    ],
  });
  failing = await server.submit({ tasks: [{ name: 'a', description: '[fail 99] [later 100] A', model: 'flaky' }] });
  queued = await server.submit({ tasks: [{ name: 'a', description: 'A', model: 'flaky' }] });
});

/** Seconds between the time a row says it waits and the time since then. */
function waited(row: string, since: string): number {
  const [, hours = 0, minutes = 0, seconds = 0] = /, (?:(\d+) h )?(?:(\d+) m )?(\d+)(?:\.\d)? s\b/.exec(row) ?? [];
  const shown = Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds);
  return Math.abs((Date.now() - Date.parse(since)) / 1_000 - shown);
}

describe('a run that does not get on', () => {
  it('says why: the limit of its model, a model that fails, the queue', async () => {
    const { page, context, complaints } = await open(browser);
    const says = (text: string | RegExp): Promise<void> =>
      page.locator('header').getByRole('status').getByText(text).waitFor();

    await page.goto(`${server.url}/runs/${rated}/graph`);
    await says('The run waits for a free slot or the rate limit of its model');
    await page.goto(`${server.url}/runs/${queued}/graph`);
    await says('Waits in the queue, next to start');
    await page.goto(`${server.url}/runs/${failing}/timeline`);
    await says(/^flaky failed \(http:\S+ HTTP 503: the model is overloaded\); tries again · \d+:\d\d · try \d of 9$/);
    await page.getByRole('button', { name: 'Switch the model' }).click();
    await page.getByRole('dialog', { name: 'Switch the model' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Parts of a' }).click();
    await page
      .getByRole('link', { name: /^failed: .*HTTP 503: the model is overloaded/ })
      .first()
      .waitFor();

    await page.goto(`${server.url}/runs`);
    await page.getByText('in the queue, next').waitFor();
    await page.getByText('waits for its model').waitFor();
    await page.getByText('tries again').waitFor();
    // Since when is the server's to say: a page that is opened later says the same.
    for (const id of [queued, rated, failing]) {
      const row = page.getByRole('row').filter({ has: page.locator(`a[href$="/runs/${id}"]`) });
      const differs = async (): Promise<number> => {
        const { waitingSince } = (await server.call('GET', `/api/runs/${id}`)) as { waitingSince: string };
        return waited(await row.innerText(), waitingSince);
      };
      await expect.poll(differs).toBeLessThanOrEqual(2);
    }
    expect(complaints).toEqual([]);
    await context.close();
  });

  it.each([
    [1440, 900],
    [390, 844],
  ])('tells the reason as soon as it is opened, without scrolling, at %i × %i', async (width, height) => {
    const reasons: [string, RegExp][] = [
      [rated, /waits for a free slot or the rate limit of its model/],
      [failing, /flaky failed \(http:\S+ HTTP 503: the model is overloaded\)/],
      [queued, /Waits in the queue/],
    ];
    for (const [run, reason] of reasons) {
      const { page, context } = await open(browser, { width, height });
      await page.goto(`${server.url}/runs/${run}`);
      const line = page.locator('header').getByRole('status').getByText(reason);
      await line.waitFor();
      const box = await line.boundingBox();
      expect(await page.evaluate('scrollY')).toBe(0);
      expect(box && box.y >= 0 && box.y + box.height <= height && box.x + box.width <= width).toBe(true);
      await context.close();
    }
    // The list tells all three at once.
    const { page, context } = await open(browser, { width, height });
    await page.goto(`${server.url}/runs`);
    for (const text of ['in the queue, next', 'waits for its model', 'tries again']) {
      const shown = page.getByText(text).locator('visible=true').first();
      await shown.waitFor();
      const box = await shown.boundingBox();
      expect(box && box.y + box.height <= height).toBe(true);
    }
    await context.close();
  });
});
