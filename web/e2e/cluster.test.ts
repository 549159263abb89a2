// The servers that share a store.

import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { barriers } from './axe';
import { enter, open } from './browser';
import { config, Consort } from './server';
import { browser, model, withModel } from './setting';

withModel();
it('are listed with what each does, and one that is alone says so', async () => {
  const server = await Consort.start(config(model.url));
  const { page, context, complaints } = await open(browser);
  await page.goto(server.url);
  await page.getByRole('link', { name: 'Cluster' }).click();
  await page.getByRole('heading', { name: 'This server is not part of a cluster' }).waitFor();
  await expect.poll(() => page.getByRole('row').count()).toBe(2);
  expect(await barriers(page)).toEqual([]);
  // A second node needs a database of its own; the page only needs its row.
  const node = { version: '0.1.0', leaseUntil: new Date(Date.now() + 60_000).toISOString() };
  await page.route('**/api/cluster', (route) =>
    route.fulfill({
      json: {
        nodes: [
          { ...node, name: 'node-1', address: 'http://10.0.0.5:7329', draining: false, runs: 3 },
          { ...node, name: 'node-2', address: 'http://10.0.0.6:7329', draining: true, runs: 1 },
        ],
      },
    }),
  );
  await page.reload();
  await page.getByRole('row', { name: /node-1 .* active its lease ends in 0:\d\d 3$/ }).waitFor();
  await page.getByRole('row', { name: /node-2 .* draining .* 1$/ }).waitFor();
  await expect.poll(() => page.getByRole('heading', { name: 'This server is not part of a cluster' }).count()).toBe(0);
  expect(await barriers(page)).toEqual([]);
  expect(complaints).toEqual([]);
  await context.close();
  await server.stop();
});

it('are not shown to a key that may not see them, which is told why', async () => {
  const hash = createHash('sha256').update('reader').digest('hex');
  const key = `[[server.api_key]]\nname = "reader"\nkey_sha256 = "${hash}"\nscopes = ["read"]\n`;
  const server = await Consort.start(config(model.url, key));
  const { page, context } = await open(browser);
  await page.goto(`${server.url}/cluster`);
  await enter(page.getByLabel('API key', { exact: true }), 'reader');
  await page.getByText(/needs a key with the scope “admin”; reader has read/).waitFor();
  await context.close();
  await server.stop();
});
