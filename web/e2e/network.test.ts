import { describe, expect, it } from 'vitest';
import { barriers } from './axe';
import { open } from './browser';
import { Consort, kitchen, room } from './server';
import { browser, withBrowser } from './setting';

withBrowser();
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
    await map.getByRole('button', { name: /kitchen gone disconnected/ }).click();
    const panel = page.getByRole('complementary', { name: 'Ensemble kitchen' });
    await panel.getByText('Reason').waitFor();
    await panel.getByRole('heading', { name: 'Shared' }).waitFor();
    await expect.poll(() => panel.getByRole('button', { name: /^Try/ }).count()).toBe(0);
    await page.getByRole('button', { name: 'Close the panel' }).click();
    await page.getByRole('button', { name: /kitchen .*with check-inventory/ }).waitFor();

    await far.up();
    await map.getByRole('button', { name: /kitchen available/ }).waitFor();
    await page.getByText('1 ensemble linked', { exact: true }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
    await Promise.all([far.stop(), near.stop()]);
  });

  it('offers its tools to a task composed by hand, with an agent of its own', async () => {
    const far = await Consort.start(kitchen());
    const near = await Consort.start(room(far.url));
    const { page, context, complaints } = await open(browser);
    await page.goto(`${near.url}/network`);
    await page.getByText('1 ensemble linked', { exact: true }).waitFor();
    await page.goto(`${near.url}/runs/new`);
    await page.getByText('My own tasks').click();
    await page.getByLabel('Description').fill('Look into the larder');
    await page.getByRole('combobox', { name: 'Tools' }).click();
    await page.getByRole('option', { name: 'network:#food' }).click();
    await page.getByRole('option', { name: 'kitchen.check-inventory' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Agent derived from the task' }).click();
    await page.getByLabel('Goal').fill('Know what there is');
    await page.getByText('An agent needs a role').waitFor();
    await page.getByLabel('Role').fill('Cook');
    await page.getByRole('button', { name: 'Check it' }).click();
    await page.getByText('by Cook on demo with network:#food, kitchen.check-inventory').waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.getByRole('button', { name: 'Start the run' }).click();
    await page.getByText('Its task is done').waitFor();
    expect(complaints).toEqual([]);
    await context.close();
    await Promise.all([far.stop(), near.stop()]);
  });

  it('shows the work that others asked for, which is looked at here and steered there', async () => {
    const far = await Consort.start(kitchen());
    const near = await Consort.start(room(far.url));
    const { page, context, complaints } = await open(browser);
    await page.goto(`${far.url}/runs?kind=peer`);
    await page.getByText('No work for other ensembles yet').waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.goto(`${near.url}/network`);
    await page.getByText('1 ensemble linked', { exact: true }).waitFor();
    await near.call('POST', '/api/tools/kitchen.prepare-meal/invoke', { input: 'a soup of leeks' });

    await page.goto(`${far.url}/network`);
    await page.getByRole('link', { name: 'Work for others' }).click();
    const row = page.locator('tbody tr');
    await expect.poll(() => row.innerText()).toContain('a soup of leeks');
    await expect.poll(() => page.getByRole('checkbox').count()).toBe(0);
    expect(await barriers(page)).toEqual([]);
    await row.getByRole('link').first().click();
    await page.getByRole('heading', { name: /a soup of leeks/, level: 1 }).waitFor();
    await page.getByText('Its task is done').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'More about this run' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Work for others' }).click();
    await page.getByRole('combobox', { name: 'Kind of runs' }).click();
    await page.getByRole('option', { name: 'Own runs' }).click();
    await page.getByText('No runs yet').waitFor();
    expect(complaints).toEqual([]);
    await context.close();
    await Promise.all([far.stop(), near.stop()]);
  });

  it('is asked about only while somebody can see it', async () => {
    const server = await Consort.start();
    const { page, context } = await open(browser);
    let [asked, answered] = [0, 0];
    page.on('request', (request) => {
      if (request.url().endsWith('/api/network')) asked += 1;
    });
    page.on('requestfinished', (request) => {
      if (request.url().endsWith('/api/network')) answered += 1;
    });
    // A page that still waits for an answer does not ask again.
    const quiet = (): Promise<void> => expect.poll(() => asked - answered).toBe(0);
    await page.clock.install();
    const show = (state: 'hidden' | 'visible'): Promise<void> =>
      page.evaluate((value) => {
        Object.defineProperty(document, 'visibilityState', { value, configurable: true });
        document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
      }, state);
    await page.goto(`${server.url}/network`);
    await page.getByRole('heading', { name: 'No other ensembles yet' }).waitFor();
    await quiet();
    const first = asked;
    await page.clock.runFor(5_000);
    await expect.poll(() => asked).toBeGreaterThan(first);
    await show('hidden');
    await quiet();
    const before = asked;
    await page.clock.runFor(60_000);
    expect(asked).toBe(before);
    await show('visible');
    await expect.poll(() => asked).toBeGreaterThan(before);
    await context.close();
    await server.stop();
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
