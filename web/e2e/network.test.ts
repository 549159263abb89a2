import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { barriers } from './axe';
import { launch, open } from './browser';
import { Consort, kitchen, room } from './server';

let browser: Browser;

beforeAll(async () => {
  browser = await launch();
});

afterAll(() => browser.close());

describe('a network of two servers', () => {
  it('is a map on which one calls a tool of the other, and sees it go and come back', async () => {
    const far = await Consort.start(kitchen());
    const near = await Consort.start(room(far.url));
    const { page, context, complaints } = await open(browser);
    await page.goto(`${near.url}/network`);
    const map = page.getByRole('group', { name: 'Ensembles and their links' });
    await map.getByRole('button', { name: /kitchen available/ }).waitFor();
    await page.getByText('1 ensemble linked', { exact: true }).waitFor();
    await page.getByRole('button', { name: '#food 2' }).click();
    await page.waitForURL(/tag=food/);

    await page.getByRole('button', { name: 'Try it: kitchen.check-inventory' }).click();
    await page.getByLabel('input').fill('6 * 7');
    await page.getByRole('button', { name: 'Call kitchen.check-inventory' }).click();
    await page.getByRole('form', { name: 'Call kitchen.check-inventory' }).getByText('42', { exact: true }).waitFor();

    await far.down();
    await map.getByRole('button', { name: /kitchen gone went away/ }).click();
    const panel = page.getByRole('complementary', { name: 'Ensemble kitchen' });
    await panel.getByText('Why no link').waitFor();
    await panel.getByRole('heading', { name: 'What it shared' }).waitFor();
    expect(await panel.getByRole('button', { name: /^Try/ }).count()).toBe(0);
    await page.getByRole('button', { name: 'Close the ensemble' }).click();
    await page.getByRole('button', { name: /kitchen .*with check-inventory/ }).waitFor();

    await far.up();
    await map.getByRole('button', { name: /kitchen available/ }).waitFor({ timeout: 30_000 });
    await page.getByText('1 ensemble linked', { exact: true }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
    await Promise.all([far.stop(), near.stop()]);
  });

  it('says how to link up when nobody else is there', async () => {
    const server = await Consort.start();
    const { page, context } = await open(browser);
    await page.goto(`${server.url}/network`);
    await page.getByRole('heading', { name: 'No other ensembles yet' }).waitFor();
    expect(await barriers(page)).toEqual([]);
    await context.close();
    await server.stop();
  });
});
