import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { open } from './browser';
import { browser, model, page, server, withPage, withServer } from './setting';

withServer();
withPage();

const status = (): ReturnType<Page['locator']> =>
  page
    .locator('header')
    .getByText(/^(Queued|Running|Waiting|Paused|Stopping|Completed|Failed|Cancelled)$/)
    .first();
const one = (task: object): object => ({ tasks: [{ name: 'essay', ...task }] });

describe('a run', () => {
  it('is composed, checked, started and watched to its end', async () => {
    await page.goto(`${server.url}/runs/new`);
    await page.getByRole('button', { name: 'Check it' }).click();
    await page.getByRole('alert').getByText('audience').waitFor();
    await page.getByRole('textbox', { name: 'audience' }).fill('children');
    await page.getByRole('button', { name: 'Check it' }).click();
    await page.getByText('reads research').waitFor();
    expect(await page.getByLabel('The request as JSON').textContent()).toContain('"audience": "children"');
    await page.getByRole('button', { name: 'Start the run' }).click();
    await page.waitForURL(/\/runs\/run-[0-9a-f]+\/graph/);
    await status().getByText('Completed').waitFor();
    await page.getByRole('link', { name: 'Outputs' }).click();
    await page.getByRole('heading', { name: 'write' }).waitFor();
    await page.getByText('word6').first().waitFor();
  });

  it("is composed of tasks of one's own, linked as they are drawn", async () => {
    await page.goto(`${server.url}/runs/new`);
    await page.getByText('My own tasks').click();
    const first = page.getByRole('region', { name: 'Task 1' });
    await first.getByLabel('Description').fill('[say Bees dance.] Read about {topic}');
    await first.getByLabel('Name').fill('read');
    await page.getByRole('button', { name: 'Add a task' }).click();
    const second = page.getByRole('region', { name: 'Task 2' });
    await second.getByLabel('Description').fill('[say Written.] Write it up');
    await second.getByRole('combobox', { name: 'Reads the output of' }).press('ArrowDown');
    await page.getByRole('option', { name: 'read' }).click();
    await expect.poll(() => page.locator('.react-flow__edge').count()).toBe(1);
    await page.getByRole('textbox', { name: 'topic' }).fill('bees');
    await page.getByRole('button', { name: 'Start the run' }).click();
    await page.getByText('All 2 tasks are done').waitFor();
    expect(model.asked.at(-1)?.messages.some(({ content }) => content?.includes('Bees dance.'))).toBe(true);
  });

  it('is kept while it is composed, over leaving the page, until it is started', async () => {
    await page.goto(`${server.url}/runs/new`);
    await page.getByText('My own tasks').click();
    await page.getByLabel('Description').fill('[say Kept.] Count the drones');
    await page.getByRole('link', { name: 'Tools', exact: true }).click();
    await page.getByRole('heading', { name: 'Tools', exact: true }).waitFor();
    await page.goto(`${server.url}/runs/new`);
    await expect.poll(() => page.getByLabel('Description').inputValue()).toBe('[say Kept.] Count the drones');
    await page.getByRole('button', { name: 'Start the run' }).click();
    await page.getByText('Its task is done').waitFor();
    await page.goto(`${server.url}/runs/new`);
    await page.getByRole('textbox', { name: 'audience' }).waitFor();
  });

  it('of a thousand tasks is drawn at once, and cancelled', async () => {
    const tasks = Array.from({ length: 1_000 }, (_, at) => ({
      name: `task ${at}`,
      description: at === 0 ? '[hold] Begin' : `Do ${at}`,
      ...(at === 0 ? {} : { context: [`$task ${Math.floor((at - 1) / 3)}`] }),
    }));
    const run = await server.submit({ tasks });
    await page.goto(`${server.url}/runs/${run}/graph`);
    await page.getByRole('button', { name: /task 0/ }).waitFor();
    expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(3_000);
    await server.call('POST', `/api/runs/${run}/cancel`, { mode: 'now' });
    await status().getByText('Cancelled').waitFor();
  });

  it('shows what a task answered as a tree, and the files it changed', async () => {
    const tasks = [
      {
        name: 'facts',
        description: '[say {"title": "Dance", "by": {"name": "Karl"}, "told": ["angle", "length"]}] List',
        outputSchema: { type: 'object' },
      },
      {
        name: 'save',
        description: '[call write_file {"path":"dance.md","content":"Bees dance"}] [say Saved.]',
        tools: ['write_file'],
      },
    ];
    const run = await server.finish({ tasks });
    await page.goto(`${server.url}/runs/${run}/conversation?turn=1`);
    const talk = page.getByRole('log');
    await talk.getByText('name: Karl').waitFor();
    await talk.getByText('told: [2]').waitFor();
    await page.getByRole('link', { name: /save/ }).click();
    await talk.getByText('created dance.md').waitFor();
    await talk.getByText('+1 −0').waitFor();
  });

  it('shows to a late joiner what an early one saw, and the same after a reload', async () => {
    const run = await server.submit(one({ description: '[words 60] [hold 20] Go on later' }));
    await page.goto(`${server.url}/runs/${run}/conversation`);
    await page.getByText(/word\d+ /).waitFor();
    const late = await open(browser);
    await late.page.goto(`${server.url}/runs/${run}/conversation`);
    // Also what was said before it came.
    await late.page.getByText(/^word1 .* word20$/).waitFor();
    model.release('Go on later');
    await Promise.all([page, late.page].map((each) => each.getByText('Completed', { exact: true }).first().waitFor()));
    const seen = (each: Page): Promise<string> => each.getByRole('log').innerText();
    await page.getByText('word60').waitFor();
    const early = await seen(page);
    await expect.poll(() => seen(late.page)).toBe(early);
    await page.reload();
    await page.getByText('word60').waitFor();
    await expect.poll(() => seen(page)).toBe(early);
    await late.context.close();
  });

  it('is cancelled in the middle of an answer', async () => {
    const run = await server.submit(one({ description: '[hold 3] Go' }));
    await page.goto(`${server.url}/runs/${run}/conversation`);
    await page.getByText(/word\d+ /).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('menuitem', { name: /At once/ }).click();
    await status().getByText('Cancelled').waitFor();
    expect(await server.call('GET', `/api/runs/${run}`)).toMatchObject({ status: 'CANCELLED' });
  });

  it('is paused and resumed', async () => {
    const run = await server.submit({
      tasks: [
        { name: 'a', description: '[hold] To be paused' },
        { name: 'b', description: 'B' },
      ],
    });
    await page.goto(`${server.url}/runs/${run}/graph`);
    await page.getByRole('button', { name: 'Pause' }).click();
    await status().getByText('Paused').waitFor();
    await page.getByText('Pausing: what has begun is finished first').waitFor();
    model.release('To be paused');
    await page.getByText('Paused', { exact: true }).nth(1).waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await status().getByText('Completed').waitFor();
  });

  it('goes on with another model after a switch', async () => {
    const run = await server.submit({
      tasks: [
        { name: 'a', description: '[hold] To be switched', model: 'swift' },
        { name: 'b', description: 'B', model: 'swift' },
      ],
    });
    await page.goto(`${server.url}/runs/${run}/graph`);
    await page.getByRole('button', { name: 'More about this run' }).click();
    await page.getByRole('menuitem', { name: 'Switch the model' }).click();
    await page.getByRole('combobox', { name: 'Model' }).click();
    await page.getByRole('option', { name: /^deep/ }).click();
    await page.getByRole('button', { name: 'Switch', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    model.release('To be switched');
    await status().getByText('Completed').waitFor();
    await page
      .getByRole('button', { name: /^(Completed )?b/ })
      .getByText('deep')
      .waitFor();
    expect(model.asked.at(-1)?.model).toBe('deep');
  });

  it('is told something that its next model call sees', async () => {
    const run = await server.submit({
      tasks: [
        { name: 'a', description: '[hold] To be told' },
        { name: 'b', description: 'B' },
      ],
    });
    await page.goto(`${server.url}/runs/${run}/graph`);
    await page.getByRole('button', { name: 'More about this run' }).click();
    await page.getByRole('menuitem', { name: 'Tell a task something' }).click();
    await page.getByLabel('Message').fill('Mention the queen');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    model.release('To be told');
    await status().getByText('Completed').waitFor();
    await page.goto(`${server.url}/runs/${run}/conversation?turn=2`);
    await page
      .getByRole('log')
      .getByText(/Mention the queen/)
      .waitFor();
  });

  it('loses and doubles nothing when the server is killed and comes back', async () => {
    const run = await server.submit({
      tasks: [
        { name: 'a', description: '[hold] To be killed' },
        { name: 'b', description: 'B' },
      ],
    });
    await page.goto(`${server.url}/runs/${run}/events`);
    await page.getByText('llm_iteration_started').first().waitFor();
    await server.down();
    await page.getByText(/Reconnecting/).waitFor();
    await page.getByText(/The server cannot be reached\. This page shows the state of/).waitFor();
    model.release('To be killed');
    await server.up();
    await status().getByText('Completed').waitFor();
    await page.getByText('Connected', { exact: true }).waitFor();
    const { eventCount } = (await server.call('GET', `/api/runs/${run}`)) as { eventCount: number };
    const shown = await page.locator('[aria-label=Events] a span:first-child').allTextContents();
    expect(shown.map(Number)).toEqual(Array.from({ length: eventCount }, (_, seq) => seq));
    await page.getByRole('link', { name: 'Conversation' }).click();
    await page.getByRole('log').getByRole('heading', { name: 'Task' }).waitFor();
    const live = await page.getByRole('log').innerText();
    await page.reload();
    await page.getByRole('log').waitFor();
    await expect.poll(() => page.getByRole('log').innerText()).toBe(live);
    await page.getByRole('link', { name: 'Timeline' }).click();
    await page.getByRole('region', { name: 'Timeline' }).getByRole('link', { name: 'b' }).waitFor();
  });

  it('that does not exist says so and leads back', async () => {
    await page.goto(`${server.url}/runs/run-unknown/graph`);
    await page.getByRole('heading', { name: 'There is no such run' }).waitFor();
    await page.getByRole('link', { name: 'All runs' }).click();
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
  });

  it('is deleted when it is over', async () => {
    const run = await server.finish(one({ description: 'Go' }));
    await page.goto(`${server.url}/runs/${run}/outputs`);
    await page.getByRole('button', { name: 'More about this run' }).click();
    await page.getByRole('menuitem', { name: 'Delete the run' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.waitForURL(`${server.url}/runs`);
    await expect(server.call('GET', `/api/runs/${run}`)).rejects.toThrow('404');
  });
});

describe('the list of runs', () => {
  it('keeps its filters in the address', async () => {
    const run = await server.finish({ ...one({ description: 'Go' }), tags: { team: 'alpha' } });
    await server.finish({ ...one({ description: 'Go' }), tags: { team: 'beta' } });
    await page.goto(`${server.url}/runs`);
    await page.getByRole('link', { name: 'team:alpha' }).click();
    await page.waitForURL(/tag=team%3Aalpha/);
    await page.getByText('1 run', { exact: true }).waitFor();
    await page.getByRole('combobox', { name: 'Status' }).click();
    await page.getByRole('option', { name: 'Failed' }).click();
    await page.getByText('No run matches these filters').waitFor();
    await page.goBack();
    await page.locator(`a[href$="/runs/${run}"]`).first().click();
    await page.waitForURL(new RegExp(run));
  });
});

describe('a list longer than a page', () => {
  it('is turned over, and the page is in the address', async () => {
    for (let made = 0; made < 51; made += 1)
      await server.finish({ ...one({ description: 'Go' }), tags: { shelf: 'long' } });
    await page.goto(`${server.url}/runs?tag=shelf%3Along`);
    await page.getByText('51 runs', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Older' }).click();
    await page.waitForURL(/page=2/);
    await page.getByText('Page 2 of 2').waitFor();
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
  });
});

describe('a tool', () => {
  it('is called from the form its schema makes', async () => {
    await page.goto(`${server.url}/tools`);
    await page.getByRole('article').filter({ hasText: 'calculator' }).getByRole('button', { name: 'Try it' }).click();
    await page.getByLabel('input').fill('42 * 17');
    await page.getByRole('button', { name: 'Call calculator' }).click();
    await page.getByText('714').waitFor();
    await page.getByLabel('input').fill('42 * 18');
    await page.keyboard.press('Control+Enter');
    await page.getByText('756').waitFor();
  });
});
