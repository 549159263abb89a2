// What begins by itself, and who is told of it.

import { createHash } from 'node:crypto';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { barriers } from './axe';
import { enter, open } from './browser';
import { config, Consort } from './server';
import { browser, model, server, withServer } from './setting';

const hash = (key: string): string => createHash('sha256').update(key).digest('hex');

const configured = (url: string): string =>
  config(
    url,
    `
[[schedule]]
name = "weekly"
cron = "0 8 * * MON"
timezone = "Europe/Berlin"
inputs = { audience = "beginners" }

[[webhook]]
name = "ops"
url = "${url.replace('/v1', '/tool')}"
secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

[[webhook]]
name = "gone"
url = "http://127.0.0.1:9/consort"
secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
events = ["run.completed"]
tags = { team = "desk" }
`,
  );

withServer({ configured });

const row = (page: Page, name: string): ReturnType<Page['locator']> =>
  page.getByRole('list', { name: 'Schedules' }).getByRole('listitem').filter({ hasText: name });

describe('schedules', () => {
  it('of the file say when they are due, are run and paused, and why they cannot be changed', async () => {
    const { page, context, complaints } = await open(browser);
    await page.goto(server.url);
    await page.getByRole('link', { name: 'Schedules' }).click();
    const weekly = row(page, 'weekly').first();
    await weekly.getByText('from the file').waitFor();
    await weekly.getByText('0 8 * * MON').waitFor();
    const due = weekly.getByRole('list', { name: 'When weekly is due' }).getByRole('listitem');
    await expect.poll(() => due.count()).toBe(5);
    expect(await due.first().locator('time').getAttribute('datetime')).toMatch(/T0[67]:00:00/);
    expect(await barriers(page)).toEqual([]);

    await page.getByRole('button', { name: 'More about weekly' }).click();
    await page.getByText('It is in the configuration: change it there.').last().waitFor();
    for (const name of ['Change', 'Delete'])
      expect(await page.getByRole('menuitem', { name }).getAttribute('title')).toBe(
        'It is in the configuration: change it there.',
      );
    expect(await page.getByRole('menuitem', { name: 'Change' }).isDisabled()).toBe(true);
    await page.keyboard.press('Escape');

    await page.getByRole('button', { name: 'Pause weekly' }).click();
    await weekly.getByText('paused', { exact: true }).waitFor();
    await weekly.getByText('Would be due').waitFor();
    await page.getByRole('button', { name: 'Resume weekly' }).click();
    await expect.poll(() => weekly.getByText('paused', { exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Run now: weekly' }).click();
    await page.getByText('All 2 tasks are done').waitFor();
    await page.goBack();
    await weekly.getByText('started a run').waitFor();
    await weekly.getByRole('link', { name: /^run / }).click();
    await page.getByText('All 2 tasks are done').waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('are made, refused with the reason, changed and deleted', async () => {
    const { page, context, complaints } = await open(browser);
    await page.goto(`${server.url}/schedules`);
    await page.getByRole('button', { name: 'New schedule' }).click();
    const dialog = page.getByRole('dialog', { name: 'New schedule' });
    await dialog.getByLabel('Name').fill('tea-time');
    await dialog.getByLabel('Pattern').fill('0 0 17 * * *');
    await dialog.getByLabel('Inputs').fill('{"audience": ');
    await dialog.getByText('This is not a JSON object').waitFor();
    expect(await dialog.getByRole('button', { name: 'Create the schedule' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Inputs').fill('{"audience": "guests"}');
    await dialog.getByRole('button', { name: 'Create the schedule' }).click();
    await dialog.getByText(/must have five fields/).waitFor();
    await dialog.getByLabel('Pattern').fill('0 17 * * *');
    await dialog.getByRole('combobox', { name: 'Time zone' }).fill('Lisbon');
    await page.getByRole('option', { name: 'Europe/Lisbon' }).click();
    expect(await barriers(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create the schedule' }).click();
    const made = row(page, 'tea-time').first();
    await made.getByText('Europe/Lisbon').waitFor();
    await made.getByText('audience: guests').waitFor();
    expect(await server.call('GET', '/api/schedules/tea-time')).toMatchObject({
      cron: '0 17 * * *',
      timezone: 'Europe/Lisbon',
      inputs: { audience: 'guests' },
      source: 'api',
    });

    await page.getByRole('button', { name: 'More about tea-time' }).click();
    await page.getByRole('menuitem', { name: 'Change' }).click();
    const change = page.getByRole('dialog', { name: 'Change tea-time' });
    await change.getByText('At an interval').click();
    await enter(change.getByLabel(/^Every/), '6h');
    await made.getByText('every 6h').waitFor();
    expect(await server.call('GET', '/api/schedules/tea-time')).toMatchObject({ cron: null, every: '6h' });

    await page.getByRole('button', { name: 'More about tea-time' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog', { name: 'Delete tea-time?' }).getByRole('button', { name: 'Delete' }).click();
    await expect.poll(() => row(page, 'tea-time').count()).toBe(0);
    expect(complaints).toEqual([]);
    await context.close();
  });
});

describe('webhooks', () => {
  it('are listed with what they were told, every try of it, and told again', async () => {
    const run = await server.finish({ tags: { team: 'desk' }, tasks: [{ name: 'a', description: 'A' }] });
    const { page, context, complaints } = await open(browser);
    await page.goto(`${server.url}/schedules`);
    await row(page, 'weekly').first().waitFor();
    await page.keyboard.press('Control+k');
    await enter(page.getByRole('combobox', { name: 'Go to anything' }), 'webhooks');
    await page.getByRole('heading', { name: 'Deliveries to ops' }).waitFor();
    const deliveries = page.getByRole('list', { name: 'Deliveries' });
    const told = deliveries.locator(':scope > li').filter({ hasText: run.slice(-6) });
    await told.getByText('delivered', { exact: true }).waitFor();
    await told.getByText(/^1 try, the last/).waitFor();

    await page.getByRole('link', { name: 'gone' }).click();
    await page.getByRole('heading', { name: 'Deliveries to gone' }).waitFor();
    await told.getByText('to be sent', { exact: true }).waitFor();
    await told.getByText(/^\d tr(y|ies), the last/).click();
    await told
      .getByText(/no answer/)
      .first()
      .waitFor();
    await told.getByText(/next try in/).waitFor();
    expect(await barriers(page)).toEqual([]);
    const tries = async (): Promise<number> => told.getByRole('listitem').count();
    const before = await tries();
    await told.getByRole('button', { name: /^Send again/ }).click();
    await expect.poll(tries).toBeGreaterThan(before);
    await page.getByText('given up', { exact: true }).click();
    await page.getByRole('heading', { name: 'None in this state' }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('and schedules are not for a key that may only read, which is told why', async () => {
    const key = `[[server.api_key]]\nname = "reader"\nkey_sha256 = "${hash('reader')}"\nscopes = ["read"]\n`;
    const keyed = await Consort.start(config(model.url, key));
    const { page, context } = await open(browser);
    await page.goto(`${keyed.url}/webhooks`);
    await enter(page.getByLabel('API key', { exact: true }), 'reader');
    await page.getByText(/needs a key with the scope “admin”; reader has read/).waitFor();
    await page.getByRole('link', { name: 'Schedules' }).click();
    await page.getByRole('heading', { name: 'Nothing is scheduled' }).waitFor();
    const make = page.getByRole('button', { name: 'New schedule' });
    expect(await make.isDisabled()).toBe(true);
    expect(await make.getAttribute('title')).toContain('needs a key with the scope “run”');
    await context.close();
    await keyed.stop();
  });
});
