// What is not saved, or not meant to be: drafts, and tasks that are tried out alone.

import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { model, page, server, withPage, withServer } from './setting';

withServer();
withPage();

const REPORT = {
  name: 'Report',
  tasks: [
    { name: 'read', description: 'Read', position: { x: 0, y: 0 } },
    { name: 'write', description: 'Write', context: ['$read'], position: { x: 320, y: 0 } },
  ],
};

interface Saved {
  id: string;
}

const task = (name: RegExp): ReturnType<Page['locator']> =>
  page.getByRole('group', { name: 'Tasks and their links' }).getByRole('button', { name });
const field = (name: string): ReturnType<Page['locator']> =>
  page.getByRole('form').getByLabel(name).and(page.locator('input, textarea')).first();
const standing = (text: string): Promise<void> => page.getByText(text, { exact: true }).first().waitFor();

describe('a workflow', () => {
  it('keeps what cannot be saved yet as a draft, over leaving and reloading', async () => {
    await page.goto(`${server.url}/workflows/new`);
    await page.getByLabel('Name of the workflow').fill('Wrong');
    await page.getByRole('button', { name: 'Add the first task' }).click();
    await page.getByRole('button', { name: 'Agent' }).click();
    await field('Goal').fill('Be up there');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Kept as a draft').waitFor();
    await standing('Draft, not saved yet');
    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    await page.waitForURL(/\/runs$/);
    await page.getByRole('link', { name: 'Workflows', exact: true }).first().click();
    const drafts = page.getByRole('list', { name: 'Drafts' });
    await drafts.getByText('Never saved').waitFor();
    await drafts.getByRole('link', { name: 'Wrong' }).click();
    await task(/wrong: .*An agent needs a role/).waitFor();
    await page.getByText(/This is a draft from/).waitFor();
    await page.reload();
    await task(/wrong: .*An agent needs a role/).waitFor();
    await page.getByRole('button', { name: 'Discard the draft' }).click();
    await page.getByRole('heading', { name: 'An empty canvas' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'An empty canvas' }).waitFor();

    const { id } = (await server.call('POST', '/api/workflows', REPORT)) as Saved;
    await page.goto(`${server.url}/workflows/${id}`);
    await task(/^write/).click();
    await field('Description').fill('');
    await page.reload();
    await standing('Draft of version 1');
    await server.call('PUT', `/api/workflows/${id}`, { ...REPORT, name: 'Theirs' }, { 'if-match': '"1"' });
    await page.reload();
    await page.getByRole('alert').filter({ hasText: 'while you were changing version 1' }).waitFor();
    await page.getByRole('button', { name: 'Use theirs' }).click();
    await standing('Version 2');
    await page.reload();
    await standing('Version 2');
  }, 120_000);

  it('runs one task alone on pinned outputs of those before it', async () => {
    const { id } = (await server.call('POST', '/api/workflows', REPORT)) as Saved;
    await page.goto(`${server.url}/workflows/${id}`);
    await task(/^write/).click();
    await page.getByRole('button', { name: 'Run this task' }).click();
    const dialog = page.getByRole('dialog', { name: "Run 'write' alone" });
    await dialog.getByLabel("Output of 'read'").fill('Bees {dance} in eights.');
    await dialog.getByRole('button', { name: 'Run this task' }).click();
    await page.getByText('of what the canvas showed').waitFor();
    await task(/^write.*completed/i).waitFor();
    expect(model.asked.at(-1)?.messages.some(({ content }) => content?.includes('Bees {dance} in eights.'))).toBe(true);
    await page.getByRole('button', { name: 'Stop watching' }).click();
    await page.getByRole('button', { name: 'Run this task' }).click();
    expect(await dialog.getByLabel("Output of 'read'").inputValue()).toBe('Bees {dance} in eights.');
    await page.keyboard.press('Escape');
  }, 120_000);
});
