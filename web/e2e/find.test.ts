import { beforeAll, describe, expect, it } from 'vitest';
import { barriers } from './axe';
import { enter, open } from './browser';
import { browser, model, server, withServer } from './setting';

let finished: string;

const PAUSED = { tasks: [{ name: 'slow', description: '[hold] Count the wasps' }] };

withServer();

beforeAll(async () => {
  finished = await server.finish({ inputs: { topic: 'honey', audience: 'children' } });
  await server.finish({ tasks: [{ name: 'sum', description: '[say The sum is four.] Add two and two' }] });
  await server.finish({ tasks: [{ name: 'broken', description: '[fail 99] Fetch the sources', model: 'deep' }] });
  await server.submit({ tasks: [{ name: 'draft', description: 'Draft a headline', review: 'required' }] });
  const paused = await server.submit(PAUSED);
  await server.call('POST', `/api/runs/${paused}/pause`);
});

describe('runs in a list', () => {
  it('are told apart by what they are about and what came of them, also on their pages', async () => {
    const { page, context, complaints } = await open(browser);
    await page.goto(`${server.url}/runs`);
    await page.getByRole('row').filter({ hasText: 'children · honey' }).getByText('word1 word2').waitFor();
    await page
      .getByRole('row')
      .filter({ hasText: 'Add two and two' })
      .getByText('The sum is four.', { exact: true })
      .waitFor();
    await page.goto(`${server.url}/runs/${finished}/graph`);
    await page.getByRole('heading', { name: 'children · honey', level: 1 }).waitFor();
    await page.getByLabel('Inputs').getByText('children', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Read the answer' }).click();
    await page.waitForURL(/\/outputs$/);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('that wait or are paused are not counted as running', async () => {
    const { page, context, complaints } = await open(browser);
    await page.goto(server.url);
    const figure = (name: string): ReturnType<typeof page.locator> =>
      page.getByRole('main').getByRole('link', { name: new RegExp(`^${name}`) });
    await figure('Running')
      .getByText(/1 paused/)
      .waitFor();
    await figure('Running').getByText('0', { exact: true }).waitFor();
    await figure('Waiting for a person').getByText('1', { exact: true }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('are narrowed down, sorted, and found again under a name', async () => {
    const { page, context, complaints } = await open(browser);
    await page.goto(`${server.url}/runs`);
    const rows = page.locator('tbody tr');
    const counted = page.getByRole('search', { name: 'Runs' }).getByRole('status');
    const status = async (name: string): Promise<void> => {
      await page.getByRole('combobox', { name: 'Status' }).click();
      await page.getByRole('option', { name, exact: true }).click();
    };
    await status('Waiting');
    await counted.getByText('1 run', { exact: true }).waitFor();
    expect(await rows.innerText()).toContain('Draft a headline');
    await status('Paused');
    await rows.filter({ hasText: 'Count the wasps' }).waitFor();
    await expect.poll(() => rows.count()).toBe(1);
    await status('Any status');
    await page.waitForURL(({ searchParams }) => !searchParams.has('status'));
    await page.getByRole('textbox', { name: 'Words in a run' }).fill('sum four');
    await expect.poll(() => rows.count()).toBe(1);
    await page.getByRole('textbox', { name: 'Words in a run' }).fill('');
    await page.getByRole('button', { name: 'Dates, model, cost' }).click();
    await page.getByLabel('Started on or before').fill('2020-01-01');
    await page.getByText('No run matches these filters').waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.getByLabel('Started on or before').fill('');
    await page.keyboard.press('Escape');
    await page.getByRole('combobox', { name: 'Order' }).click();
    await page.getByRole('option', { name: 'By title' }).click();
    await expect.poll(() => rows.first().innerText()).toContain('[fail 99]');
    await page.getByRole('button', { name: 'Views' }).click();
    await enter(page.getByRole('textbox', { name: 'Name of the view' }), 'Alphabet');
    await page.getByRole('dialog').getByRole('button', { name: 'Alphabet', exact: true }).waitFor();
    await page.goto(`${server.url}/runs`);
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Alphabet', exact: true }).click();
    await page.waitForURL(/sort=title/);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('are deleted together, and only those that are listed', async () => {
    const doomed = await Promise.all(
      [1, 2].map((number) => server.finish({ tasks: [{ name: 'x', description: `Doomed ${number}` }] })),
    );
    const { page, context, complaints } = await open(browser);
    await page.goto(`${server.url}/runs`);
    await page.getByRole('checkbox', { name: /Select Doomed 1/ }).check();
    await page.getByRole('checkbox', { name: /Select Doomed 2/ }).check();
    await page.getByRole('checkbox', { name: /Select Draft a headline/ }).check();
    await page.getByText('3 selected').waitFor();
    await page.getByRole('button', { name: 'Delete 2…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete 2 runs?' });
    await expect.poll(() => dialog.getByRole('listitem').count()).toBe(2);
    await dialog.getByText('One of the selected runs is left as it is.').waitFor();
    expect(await barriers(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Delete 2', exact: true }).click();
    await expect.poll(() => page.getByText('Doomed').count()).toBe(0);
    for (const id of doomed) await expect(server.call('GET', `/api/runs/${id}`)).rejects.toThrow('404');
    await page.getByRole('link', { name: 'Draft a headline' }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });
});

describe('selected runs', () => {
  const task = (description: string): object => ({ tasks: [{ name: 'x', description }] });

  it('are cancelled together, after a list of them, and others are left as they are', async () => {
    const stopped = await Promise.all(
      ['First', 'Second'].map((name) => server.submit(task(`[hold] ${name} to be stopped`))),
    );
    const ended = await server.finish(task('Over, not to be stopped'));
    const { page, context, complaints } = await open(browser);
    await page.goto(`${server.url}/runs?text=stopped`);
    await expect.poll(() => page.locator('tbody tr').count()).toBe(3);
    await page.getByRole('checkbox', { name: 'Select all runs of this page' }).check();
    await page.getByText('3 selected').waitFor();
    await page.getByRole('button', { name: 'Cancel 2…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel 2 runs?' });
    await dialog.getByRole('listitem').filter({ hasText: 'First to be stopped' }).waitFor();
    await dialog.getByRole('listitem').filter({ hasText: 'Second to be stopped' }).waitFor();
    await expect.poll(() => dialog.getByRole('listitem').count()).toBe(2);
    await dialog.getByText('One of the selected runs is left as it is.').waitFor();
    expect(await barriers(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Back' }).click();
    await dialog.waitFor({ state: 'detached' });
    for (const id of stopped)
      expect(await server.call('GET', `/api/runs/${id}`)).toMatchObject({ cancelRequested: false });
    await page.getByRole('button', { name: 'Cancel 2…' }).click();
    await dialog.getByRole('button', { name: 'Cancel 2', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    const stopping = page.locator('tbody').getByText('Stopping', { exact: true });
    await expect.poll(() => stopping.count()).toBe(2);
    for (const id of stopped)
      expect(await server.call('GET', `/api/runs/${id}`)).toMatchObject({ cancelRequested: true });
    expect(await server.call('GET', `/api/runs/${ended}`)).toMatchObject({ status: 'COMPLETED' });
    model.release('to be stopped');
    await expect.poll(() => stopping.count()).toBe(0);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('are retried together, those that failed alone', async () => {
    const failed = await Promise.all(
      ['First', 'Second'].map((name) => server.finish(task(`[fail 99] ${name} to be repeated`))),
    );
    await server.finish(task('Done, not to be repeated'));
    const { page, context, complaints } = await open(browser);
    await page.goto(`${server.url}/runs?text=repeated`);
    await expect.poll(() => page.locator('tbody tr').count()).toBe(3);
    await page.getByRole('checkbox', { name: 'Select all runs of this page' }).check();
    await page.getByRole('button', { name: 'Retry 2…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Retry 2 runs?' });
    await expect.poll(() => dialog.getByRole('listitem').count()).toBe(2);
    expect(await barriers(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Retry 2', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => page.locator('tbody tr').count()).toBe(5);
    const { runs } = (await server.call('GET', '/api/runs?q=repeated')) as { runs: { retryOf?: string }[] };
    expect(runs.flatMap(({ retryOf }) => retryOf ?? []).toSorted()).toEqual(failed.toSorted());
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('are found by words, model and cost however many began since', async () => {
    const { page, context, complaints } = await open(browser);
    const asked: URLSearchParams[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === '/api/runs') asked.push(searchParams);
    });
    // One run for a page, so that a handful of runs are many pages.
    await page.route('**/api/runs?*', (route) => {
      const url = new URL(route.request().url());
      if (url.searchParams.get('limit') === '500') url.searchParams.set('limit', '1');
      return route.continue({ url: url.href });
    });
    await page.goto(`${server.url}/runs?text=honey&model=swift&cost=0.0000001`);
    await page.locator('tbody tr').filter({ hasText: 'children · honey' }).waitFor();
    expect(asked.some((query) => query.get('q') === 'honey' && query.get('minCost') === '0.0000001')).toBe(true);
    await page.goto(`${server.url}/runs?sort=title`);
    await expect.poll(() => page.locator('tbody tr').count()).toBe(10);
    await page.getByText('Older runs have not been searched.').waitFor();
    await page.getByText('10 runs so far').waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.getByRole('button', { name: 'Search more' }).click();
    await expect.poll(() => page.locator('tbody tr').count()).toBeGreaterThan(10);
    expect(complaints).toEqual([]);
    await context.close();
  });
});

describe('the palette', () => {
  it('goes to a run, a page and an action by a few letters, wherever the focus is', async () => {
    const { page, context, complaints } = await open(browser);
    await page.goto(`${server.url}/chat/new`);
    await page.getByRole('textbox', { name: 'Message' }).press('Control+k');
    const field = page.getByRole('combobox', { name: 'Go to anything' });
    await field.fill('two and');
    await page.getByRole('option', { name: /Add two and two/ }).waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /Add two and two/ }).waitFor();
    await page.keyboard.press('Control+k');
    await field.fill('xyzzy');
    await page.getByText('Nothing was found with these words.').waitFor();
    expect(await barriers(page)).toEqual([]);
    // By the words of the button that does the same.
    await field.fill('new run');
    await page.getByRole('option', { name: /New run/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'New run' }).waitFor();
    await page.keyboard.press('Control+k');
    await enter(field, 'models');
    await page.waitForURL(/\/models$/);
    await page.keyboard.press('Control+k');
    await enter(field, 'switch dark');
    await expect.poll(() => page.locator('html').getAttribute('data-mantine-color-scheme')).toBe('dark');
    expect(complaints).toEqual([]);
    await context.close();
  });
});

describe('the events of a run', () => {
  it('are narrowed down to a task, a type and words, and an event keeps the filter', async () => {
    const { page, context, complaints } = await open(browser);
    await page.goto(`${server.url}/runs/${finished}/events`);
    const list = page.getByRole('region', { name: 'Events' });
    await list.getByText('run_accepted').waitFor();
    await page.getByRole('combobox', { name: 'Task' }).click();
    await page.getByRole('option', { name: '2 write' }).click();
    const found = page.getByRole('search', { name: 'Events' }).getByRole('status');
    await found.getByText(/^\d+ found$/).waitFor();
    await expect.poll(() => list.getByText('run_accepted').count()).toBe(0);
    await page.getByRole('textbox', { name: 'Words in an event' }).fill('task_completed');
    await found.getByText('1 found', { exact: true }).waitFor();
    await list.getByRole('link').click();
    await page.getByRole('heading', { name: /^#\d+ task_completed$/ }).waitFor();
    await found.getByText('1 found', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Close the panel' }).click();
    expect(new URL(page.url()).searchParams.get('of')).toBe('2');
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('keep every change, also those made before the page is drawn again', async () => {
    const { page, context, complaints } = await open(browser);
    await page.goto(`${server.url}/runs/${finished}/events?of=2&text=task&event=3`);
    const field = page.getByRole('textbox', { name: 'Words in an event' });
    await page.getByRole('button', { name: 'Close the panel' }).waitFor();
    // Both in one turn of the browser, which draws nothing between them.
    await field.evaluate((input: HTMLInputElement) => {
      input.select();
      document.execCommand('delete');
      document.querySelector<HTMLElement>('[aria-label="Close the panel"]')?.click();
    });
    await expect.poll(() => new URL(page.url()).search).toBe('?of=2');
    await field.evaluate((input: HTMLInputElement) => {
      input.focus();
      for (const letter of 'completed') document.execCommand('insertText', false, letter);
    });
    expect(await field.inputValue()).toBe('completed');
    expect(new URL(page.url()).search).toBe('?of=2&text=completed');
    expect(complaints).toEqual([]);
    await context.close();
  });
});
