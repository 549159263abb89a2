// Files with messages: chosen, dropped and pasted.

import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { barriers } from './axe';
import { drop } from './browser';
import { opened, page, server, withPage, withServer } from './setting';

withServer();
withPage();

beforeEach(async () => {
  await page.goto(`${server.url}/chat/new`);
});

const composer = (): ReturnType<Page['locator']> => page.getByRole('textbox', { name: 'Message' });
const chips = (): ReturnType<Page['locator']> => page.getByRole('list', { name: 'Attached files' });

/** Pastes a file, as one copied from a file manager or a picture is. */
async function paste(name: string, text: string, type: string): Promise<void> {
  await composer().evaluate(
    (field, given) => {
      const clipboardData = new DataTransfer();
      clipboardData.items.add(new File([given.text], given.name, { type: given.type }));
      field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    },
    { name, text, type },
  );
}

/** Keeps the next request to this address back until it is released. */
async function hold(url: string): Promise<{ release: () => void }> {
  let release = (): void => {};
  const released = new Promise<void>((done) => {
    release = done;
  });
  await page.route(
    url,
    async (route) => {
      await released;
      await route.continue();
    },
    { times: 1 },
  );
  return { release };
}

describe('a file', () => {
  it('dropped, pasted or chosen goes with the message, and is there after a reload', async () => {
    await drop(page, 'What would you like to do?', [{ name: 'hive.csv', text: 'hive,kg\none,42' }]);
    await paste('notes.md', '# Notes', 'text/markdown');
    await page.setInputFiles('input[type=file]', {
      name: 'plan.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('1.'),
    });
    await expect.poll(() => chips().locator('li').count()).toBe(3);
    await page.getByRole('button', { name: 'Remove plan.txt' }).click();
    await composer().fill('[say Two files.] What is in them?');
    expect(await barriers(page)).toEqual([]);
    await composer().press('Enter');
    const talk = page.getByRole('log', { name: 'Chat' });
    await talk.getByText('Two files.', { exact: true }).waitFor();
    await expect.poll(() => page.getByRole('button', { name: /^Remove / }).count()).toBe(0);
    const names = (): Promise<string[]> =>
      talk.getByRole('list', { name: 'Attached files' }).getByRole('button').allInnerTexts();
    await expect.poll(names).toEqual(['hive.csv', 'notes.md']);
    await page.reload();
    await expect.poll(names).toEqual(['hive.csv', 'notes.md']);
    const saved = page.waitForEvent('download');
    await talk.getByRole('button', { name: 'hive.csv' }).click();
    expect((await saved).suggestedFilename()).toBe('hive.csv');
    expect(await barriers(page)).toEqual([]);
    // Sent again, it brings its files.
    await page.getByRole('button', { name: 'Regenerate the answer' }).click();
    await expect.poll(names).toEqual(['hive.csv', 'notes.md', 'hive.csv', 'notes.md']);
  });

  it('is shown in another tab as soon as its message is sent', async () => {
    const talk = page.getByRole('log', { name: 'Chat' });
    await composer().fill('[say Hello.] Hi');
    await composer().press('Enter');
    await talk.getByText('Hello.', { exact: true }).waitFor();
    const other = await opened.context.newPage();
    await other.goto(page.url());
    await other.getByRole('log').getByText('Hello.', { exact: true }).waitFor();
    await paste('late.txt', 'Too late', 'text/plain');
    await page.getByRole('button', { name: 'Remove late.txt' }).waitFor();
    await composer().fill('[say One file.] And this?');
    await composer().press('Enter');
    await other.getByRole('log').getByRole('button', { name: 'late.txt' }).waitFor();
    await talk.getByText('One file.', { exact: true }).waitFor();
  });

  it('that is still on its way holds its message back until it is there', async () => {
    const talk = page.getByRole('log', { name: 'Chat' });
    const held = await hold('**/api/attachments');
    await paste('slow.txt', 'At last', 'text/plain');
    await chips().getByRole('img', { name: 'Uploading' }).waitFor();
    await composer().fill('[say It came.] Wait for it');
    await composer().press('Enter');
    expect(await composer().inputValue()).toBe('[say It came.] Wait for it');
    held.release();
    await talk.getByText('It came.', { exact: true }).waitFor();
    await talk.getByRole('button', { name: 'slow.txt' }).waitFor();
    // Refused, it is the writer's turn again.
    const refused = await hold('**/api/attachments');
    await paste('tool.exe', 'MZ', 'application/x-msdownload');
    await composer().fill('[say Never.] With this');
    await composer().press('Enter');
    refused.release();
    await chips()
      .getByText(/not attached: /)
      .waitFor();
    expect(await composer().inputValue()).toBe('[say Never.] With this');
  });

  it('that the server does not take says why, and keeps nothing from being sent', async () => {
    await paste('tool.exe', 'MZ', 'application/x-msdownload');
    await chips()
      .getByText(/not attached: /)
      .waitFor();
    await composer().fill('[say Gone.] Never mind');
    await composer().press('Enter');
    await page.getByRole('log', { name: 'Chat' }).getByText('Gone.', { exact: true }).waitFor();
  });

  it('is kept with the words of a message that was refused, and of one that was left', async () => {
    await drop(page, 'What would you like to do?', [{ name: 'hive.csv', text: 'hive,kg\none,42' }]);
    await composer().fill('[say Here.] Are you there?');
    await expect.poll(() => chips().getByRole('img', { name: 'Uploading' }).count()).toBe(0);
    await opened.context.setOffline(true);
    await composer().press('Enter');
    await page.getByRole('alert').getByText('Your message was not sent').waitFor();
    await expect.poll(() => chips().locator('li').count()).toBe(1);
    await opened.context.setOffline(false);
    await page.getByRole('link', { name: 'Runs' }).click();
    await page.goBack();
    await expect.poll(() => chips().locator('li').count()).toBe(1);
    await composer().press('Enter');
    await page.getByRole('log', { name: 'Chat' }).getByText('Here.', { exact: true }).waitFor();
  });
});
