// Conditions, items and rounds: in a run's graph, timeline and detail, and on the canvas.

import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { barriers } from './axe';
import { page, server, withPage, withServer } from './setting';

withServer();
withPage();

const BRANCHES = {
  inputs: { urgent: false, cities: ['Rome', 'Oslo', 'Bern'] },
  tasks: [
    { name: 'plan', description: '[say Plan it.] Plan' },
    { name: 'telegram', description: 'Send a telegram', when: 'inputs.urgent' },
    { name: 'draft', description: '[say A slogan.] Draft', context: ['$critique', '$plan'] },
    { name: 'critique', description: '[say Not yet.] Judge', context: ['$draft'] },
    { name: 'visit', description: '[say Hello.] Visit {item}', forEach: 'inputs.cities' },
    { name: 'print', description: '[say Printed.] Print', context: ['$telegram', '$draft', '$visit'] },
  ],
  groups: [{ name: 'slogans', tasks: ['draft', 'critique'], repeatUntil: 'round == 4', maxRounds: 5 }],
  options: { workflow: 'PARALLEL' },
};

describe('a run with a loop of five rounds, a branch and items', () => {
  it('shows them in its graph, with each round and item of a task', async () => {
    const run = await server.finish(BRANCHES);
    await page.goto(`${server.url}/runs/${run}/graph`);
    const task = (name: string): ReturnType<Page['locator']> =>
      page.getByRole('button', { name: new RegExp(`${name} `) });
    const group = page.getByRole('group', { name: 'Group slogans' });
    expect(await group.innerText()).toMatch(/slogans round 5 of at most 5 · until round == 4/);
    await task('telegram').getByText('its condition does not hold').waitFor();
    await page.getByLabel('only when inputs.urgent').waitFor();
    await task('draft')
      .getByText(/5 rounds/)
      .waitFor();
    await task('visit')
      .getByText(/3 of 3 items/)
      .waitFor();
    // The frame is around its tasks and no other.
    const frame = await group.boundingBox();
    const isInside = async (name: string): Promise<boolean> => {
      const box = await task(name).boundingBox();
      if (!frame || !box) throw new Error(`${name} is not drawn`);
      return (
        box.x >= frame.x &&
        box.y >= frame.y &&
        box.x + box.width <= frame.x + frame.width &&
        box.y + box.height <= frame.y + frame.height
      );
    };
    expect(await Promise.all(['draft', 'critique', 'plan', 'visit', 'print'].map(isInside))).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);

    await task('critique').click();
    const panel = page.getByRole('complementary', { name: 'Task critique' });
    const rounds = panel.getByRole('list', { name: 'Rounds' }).getByRole('listitem');
    await expect.poll(() => rounds.count()).toBe(5);
    await panel.getByText('round == 4').first().waitFor();
    expect(await barriers(page)).toEqual([]);
    await rounds.nth(2).getByRole('link', { name: 'round 3' }).click();
    await page
      .getByRole('log', { name: 'Conversation of critique, round 3' })
      .getByText('Not yet.', { exact: true })
      .first()
      .waitFor();
  });

  it('shows every round in its timeline and its conversations', async () => {
    const run = await server.finish(BRANCHES);
    await page.goto(`${server.url}/runs/${run}/timeline`);
    const timeline = page.getByRole('region', { name: 'Timeline' });
    await timeline.getByRole('link', { name: 'print', exact: true }).waitFor();
    for (const [name, times] of [
      ['round 5', 2],
      ['item 3', 1],
      ['telegram', 1],
    ] as const)
      await expect.poll(() => timeline.getByRole('link', { name, exact: true }).count()).toBe(times);
    await timeline.getByRole('link', { name: 'item 2', exact: true }).click();
    await page
      .getByRole('log', { name: 'Conversation of visit, item 2' })
      .getByText('Hello.', { exact: true })
      .first()
      .waitFor();
    const list = page.getByRole('navigation', { name: 'Conversations' });
    await expect.poll(() => list.getByText(/^round \d$/).count()).toBe(10);
    await page.getByRole('link', { name: /^Events/ }).click();
    const events = page.getByRole('region', { name: 'Events' });
    await events.getByText('run_accepted').waitFor();
    await events.evaluate((box) => {
      box.scrollTop = box.scrollHeight;
    });
    await events.getByText('slogans, round 5: repeat_until is true').waitFor();
  });
});

describe('the canvas', () => {
  const task = (name: RegExp): ReturnType<Page['locator']> =>
    page.getByRole('group', { name: 'Tasks and their links' }).getByRole('button', { name });

  it('groups tasks, repeats them, and sets conditions and items', async () => {
    const { id } = (await server.call('POST', '/api/workflows', {
      name: 'Slogans',
      tasks: [
        { name: 'draft', description: 'Draft', position: { x: 0, y: 60 } },
        { name: 'judge', description: 'Judge', context: ['$draft'], position: { x: 320, y: 60 } },
        { name: 'print', description: 'Print {item}', position: { x: 640, y: 60 } },
      ],
    })) as { id: string };
    await page.goto(`${server.url}/workflows/${id}`);
    await task(/^draft/).click();
    await task(/^judge/).click({ modifiers: ['Shift'] });
    await page.getByRole('button', { name: 'Make them a group' }).click();
    await page.getByLabel('Name of the group').fill('loop');
    await page.getByLabel('Repeat until').fill("outputs.judge == 'good'");
    await page.getByLabel('Rounds at most').fill('3');
    await page
      .getByRole('group', { name: 'Group loop' })
      .getByText(/until outputs\.judge == 'good'/)
      .waitFor();

    await task(/^print/).click();
    await page.getByRole('button', { name: 'Condition and items' }).click();
    await page.getByLabel('Only when').fill('outputs.nobody');
    await task(/wrong: .*no task 'nobody'/).waitFor();
    await page.getByLabel('Only when').fill("outputs.judge != ''");
    await page.getByLabel('For each item of').fill('["one", "two"]');
    await page.getByText('No mistakes').waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Version 2', { exact: true }).waitFor();
    expect(await server.call('GET', `/api/workflows/${id}`)).toMatchObject({
      tasks: [{}, {}, { name: 'print', when: "outputs.judge != ''", forEach: '["one", "two"]' }],
      groups: [{ name: 'loop', tasks: ['draft', 'judge'], repeatUntil: "outputs.judge == 'good'", maxRounds: 3 }],
    });

    // An earlier task of the group may read a later one: what it was in the round before.
    await task(/^draft/).click();
    await page.getByRole('combobox', { name: 'Reads the output of' }).press('ArrowDown');
    await page.getByRole('option', { name: 'judge' }).click();
    await page.getByText('No mistakes').waitFor();
    await page.getByRole('button', { name: 'loop', exact: true }).click();
    await page.getByRole('form', { name: 'Group loop' }).waitFor();
    await page.getByRole('button', { name: 'Dissolve the group; its tasks stay' }).click();
    await page.getByRole('button', { name: /mistake/ }).waitFor();
    await page.keyboard.press('Control+z');
    await page.getByRole('group', { name: 'Group loop' }).waitFor();
  }, 120_000);
});
