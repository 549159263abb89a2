import { describe, expect, it } from 'vitest';
import { barriers } from './axe';
import { open } from './browser';
import { browser, server, withServer } from './setting';

withServer();
/** The model fails the first time it is asked to weigh a hive. */
const weighed = (hive: string): object => ({
  tasks: [
    { name: 'weigh', description: `[fail 1] Weigh ${hive} [say Forty kilos.]` },
    { name: 'tell', description: '[say It weighs forty kilos.] Tell it', context: ['$weigh'] },
  ],
});

describe('a run that is over', () => {
  it('says on every step of its timeline what it used and how often it was tried', async () => {
    const run = await server.finish(weighed('hive one'));
    const { page, context, complaints } = await open(browser);
    await page.goto(`${server.url}/runs/${run}/timeline`);
    await page.getByRole('button', { name: 'Parts of weigh' }).click();
    const cells = (name: string): Promise<string[]> =>
      page
        .getByRole('link', { name, exact: true })
        .locator('xpath=..')
        .locator('[data-column]')
        .evaluateAll((all) =>
          all.map((cell) => `${cell.getAttribute('data-column')} ${cell.textContent ?? ''}`.trim()),
        );
    await page.getByText('first word').waitFor();
    const weigh = await cells('weigh');
    expect(weigh[1]).toMatch(/^tokens \d+$/);
    expect(weigh[2]).toMatch(/^cost \$0\.\d+$/);
    expect(weigh[3]).toBe('tries 2');
    expect((await cells('tell'))[3]).toBe('tries 1');
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('is shown as it was at any of its events, on every view', async () => {
    const run = await server.finish(weighed('hive two'));
    const { page, context, complaints } = await open(browser);
    await page.goto(`${server.url}/runs/${run}/graph`);
    await page.getByRole('button', { name: 'Replay' }).click();
    const slider = page.getByRole('slider', { name: 'Event' });
    await page
      .getByRole('region', { name: 'Replay' })
      .getByText(/Event 0 of \d+ .* run_accepted/)
      .waitFor();
    await page.getByText('Queued', { exact: true }).waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Pause' }).count()).toBe(0);
    const last = Number(await slider.getAttribute('max'));
    // Where the first task has failed and waits to be tried again.
    const { events } = (await server.call('GET', `/api/runs/${run}/events?from=0&limit=200`)) as {
      events: { type: string }[];
    };
    await slider.fill(String(events.findIndex(({ type }) => type === 'model_failed')));
    await page
      .getByText(/swift failed \(.*\); tries again/)
      .first()
      .waitFor();
    await page.getByText('0 of 2').waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.getByRole('link', { name: /^Conversation/ }).click();
    await page.getByText(/the model is overloaded; tries again/).waitFor();
    await expect.poll(() => page.getByText('Forty kilos.', { exact: true }).count()).toBe(0);
    await slider.focus();
    await page.keyboard.press('End');
    await page.getByText('Forty kilos.', { exact: true }).waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('at')).toBe(String(last));
    await page.getByRole('button', { name: 'End the replay' }).click();
    await page.getByRole('link', { name: 'Read the answer' }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('is forked with another prompt, and the two are compared side by side', async () => {
    const run = await server.finish(weighed('hive three'));
    const { page, context, complaints } = await open(browser);
    const { events } = (await server.call('GET', `/api/runs/${run}/events?from=0&limit=200`)) as {
      events: { type: string; taskName?: string }[];
    };
    const seq = events.findIndex(({ type, taskName }) => type === 'task_started' && taskName === 'tell');
    await page.goto(`${server.url}/runs/${run}/events?event=${seq}`);
    await page.getByRole('button', { name: 'Fork before this event' }).click();
    const dialog = page.getByRole('dialog', { name: 'Fork this run' });
    await dialog.getByRole('combobox', { name: 'Change a task' }).click();
    await page.getByRole('option', { name: 'tell' }).click();
    await dialog.getByLabel('Description').fill('[say It weighs forty pounds.] Tell it');
    await dialog.getByRole('button', { name: 'Fork' }).click();
    await page.waitForURL((url) => url.pathname.endsWith('/graph') && !url.pathname.includes(run));
    await page.getByText('Completed', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'More about this run' }).click();
    await page.getByRole('menuitem', { name: 'Compare with the run it came from' }).click();
    await page.getByRole('table', { name: 'The two runs' }).waitFor();
    const changed = page.getByRole('region', { name: 'Differences in the output of tell' });
    await changed.getByText('pounds').waitFor();
    await changed.getByText('kilos').waitFor();
    await page.getByRole('region', { name: 'Differences in the prompt of tell' }).waitFor();
    await page.getByText('The outputs are the same.').waitFor();
    expect(await barriers(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });
});
