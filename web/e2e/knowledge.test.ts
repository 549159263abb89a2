// Documents, what is remembered, files, and chats that are pinned.

import { describe, expect, it } from 'vitest';
import { barriers } from './axe';
import { drop, enter } from './browser';
import { page, server, withPage, withServer } from './setting';

withServer();
withPage();

describe('what agents know', () => {
  it('is added to as documents, and found', async () => {
    await page.goto(`${server.url}/documents`);
    await page.getByLabel('New collection').fill('hives');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('link', { name: 'hives' }).click();
    await page.getByRole('heading', { name: 'No documents in it yet' }).waitFor();
    await page.getByRole('button', { name: 'Write a document' }).click();
    await page.getByLabel('Title').fill('Winter');
    await page.getByRole('textbox', { name: 'Text' }).fill('Bees keep the queen warm in winter.');
    await page.getByRole('button', { name: 'Add the document' }).click();
    await page.getByRole('list', { name: 'Documents' }).getByRole('link', { name: 'Winter' }).waitFor();
    await page.getByLabel('Find passages').fill('queen');
    await page.getByRole('list', { name: 'Passages' }).getByText('Bees keep the queen warm').waitFor();
    await page.getByRole('button', { name: 'Delete the collection' }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Delete/ })
      .click();
    await page.getByRole('heading', { name: 'No documents yet' }).waitFor();
  });

  it('is opened, changed, replaced and deleted document by document, and dropped as files', async () => {
    await server.call('POST', '/api/collections', { name: 'wax-and-honey' });
    await page.goto(`${server.url}/documents?collection=wax-and-honey`);
    await page.getByRole('heading', { name: 'No documents in it yet' }).waitFor();
    await drop(page, 'Drop files here', [
      { name: 'Grüße.md', text: '# Wax\n\nWax is made of honey.' },
      { name: 'picture.png', text: 'not text', type: 'image/png' },
      { name: 'jars.csv', text: 'size,price\nsmall,3' },
    ]);
    await page.getByRole('status').getByText('2 documents were added.').waitFor();
    await page.getByRole('alert').filter({ hasText: "'picture.png' was not added" }).waitFor();
    const shelf = page.getByRole('list', { name: 'Documents' });
    await shelf.getByText('text/csv').waitFor();
    expect(await barriers(page)).toEqual([]);

    await shelf.getByRole('link', { name: 'Grüße.md' }).click();
    const words = page.getByRole('region', { name: /^Text of/ });
    await words.getByText('Wax is made of honey.').waitFor();
    await page.getByRole('button', { name: 'Change the text' }).click();
    await page.getByRole('textbox', { name: 'Text' }).fill('Eight kilos of honey make one of wax.');
    await page.getByRole('button', { name: 'Save' }).click();
    await words.getByText('Eight kilos of honey').waitFor();
    await drop(page, 'Eight kilos', [{ name: 'comb.html', text: '<h1>Comb</h1><p>Six corners.</p>' }]);
    await words.getByText('Six corners.').waitFor();
    await page.getByRole('heading', { name: 'comb.html', level: 1 }).waitFor();
    expect(await barriers(page)).toEqual([]);

    await page.getByRole('button', { name: 'Delete the document' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await shelf.getByRole('link', { name: 'jars.csv' }).waitFor();
    await expect.poll(() => shelf.getByRole('link').count()).toBe(1);
    await page.getByRole('button', { name: 'Delete jars.csv' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('heading', { name: 'No documents in it yet' }).waitFor();
  });

  it('is found from everywhere, and opened as the document it is', async () => {
    await server.call('POST', '/api/collections', { name: 'library' });
    await server.call('POST', '/api/collections/library/documents', {
      title: 'Royal jelly',
      content: 'Fed to queens.',
    });
    await page.goto(`${server.url}/chat/new`);
    await page.getByRole('textbox', { name: 'Message' }).press('Control+k');
    await page.getByRole('combobox', { name: 'Go to anything' }).fill('jelly');
    await page.getByRole('option', { name: /Royal jelly/ }).click();
    await page.getByRole('region', { name: 'Text of Royal jelly' }).getByText('Fed to queens.').waitFor();
  });

  it('is shown as files, folder by folder', async () => {
    await server.finish({
      tasks: [
        {
          name: 'note',
          description: '[call write_file {"path":"notes/dance.md","content":"Bees dance"}] [say Noted.]',
          tools: ['write_file'],
        },
      ],
    });
    await page.goto(`${server.url}/files`);
    await page.getByRole('link', { name: 'notes' }).click();
    await page.getByRole('link', { name: 'dance.md' }).click();
    await page.getByRole('region', { name: 'Text of notes/dance.md' }).getByText('Bees dance').waitFor();
    await page.getByRole('link', { name: 'Workspace' }).click();
    await page.getByRole('link', { name: 'notes' }).waitFor();
  });

  it('says that runs remember nothing yet', async () => {
    await page.goto(`${server.url}/memory`);
    await page.getByRole('heading', { name: 'Nothing is remembered yet' }).waitFor();
  });
});

describe('a chat', () => {
  it('is pinned above newer ones, over a reload', async () => {
    for (const title of ['Honey', 'Wax', 'Pollen']) await server.call('POST', '/api/threads', { title });
    await page.goto(`${server.url}/chat`);
    const titles = (): Promise<string[]> => page.getByRole('region', { name: 'Chats' }).locator('li a').allInnerTexts();
    await expect.poll(titles).toEqual(['Pollen', 'Wax', 'Honey']);
    await page.getByRole('button', { name: 'More about Honey' }).click();
    await page.getByRole('menuitem', { name: 'Pin' }).click();
    await expect.poll(titles).toEqual(['Honey', 'Pollen', 'Wax']);
    await page.reload();
    await page.getByRole('img', { name: 'Pinned' }).waitFor();
    expect(await titles()).toEqual(['Honey', 'Pollen', 'Wax']);
  });

  it('is kept in a folder, over a reload, and taken out again', async () => {
    await server.call('POST', '/api/threads', { title: 'Nectar' });
    await page.goto(`${server.url}/chat`);
    const more = page.getByRole('button', { name: 'More about Nectar' });
    await more.click();
    await page.getByRole('menuitem', { name: 'Move to a folder' }).click();
    const dialog = page.getByRole('dialog', { name: 'Move to a folder' });
    await enter(dialog.getByLabel('Folder', { exact: true }), 'Spring');
    const folder = page.getByRole('list', { name: 'Spring' });
    await folder.getByRole('link', { name: 'Nectar' }).waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.reload();
    await folder.getByRole('link', { name: 'Nectar' }).waitFor();
    await more.click();
    await page.getByRole('menuitem', { name: 'Move to a folder' }).click();
    await dialog.getByRole('button', { name: 'Remove from the folder' }).click();
    await expect.poll(() => folder.count()).toBe(0);
    await page.getByRole('link', { name: 'Nectar' }).waitFor();
  });
});
