import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { barriers } from './axe';
import { drawn, enter, open } from './browser';
import { fakeModel } from './model';
import { config, Consort } from './server';
import { browser, withBrowser } from './setting';

withBrowser();
describe('a server with keys', () => {
  it('is asked for one by the page, which shares it with the tabs that are open and stores it in none for good', async () => {
    const model = await fakeModel();
    const digest = createHash('sha256').update('secret').digest('hex');
    const server = await Consort.start(
      config(model.url, `[[server.api_key]]\nname = "me"\nkey_sha256 = "${digest}"\nscopes = ["read", "run"]\n`),
    );
    const { page, context, complaints } = await open(browser);
    await page.goto(`${server.url}/runs`);
    await page.getByLabel('API key', { exact: true }).waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.getByText('Its configuration holds only a hash.').waitFor();
    await page.getByText('Not connected: it asks for a key').waitFor();
    await enter(page.getByLabel('API key', { exact: true }), 'wrong');
    await page.getByText('The key was not accepted.').waitFor();
    await enter(page.getByLabel('API key', { exact: true }), 'secret');
    await page.getByText('No runs yet').waitFor();
    const run = (
      (await server.call(
        'POST',
        '/api/runs',
        { tasks: [{ name: 'a', description: '[words 40] A' }] },
        { authorization: 'Bearer secret' },
      )) as { runId: string }
    ).runId;
    await page.goto(`${server.url}/runs/${run}/graph`);
    await page.getByText('Completed', { exact: true }).first().waitFor();
    expect(await page.evaluate(() => Object.keys(localStorage).concat(document.cookie).join())).not.toContain('secret');
    const other = await context.newPage();
    await other.goto(`${server.url}/runs`);
    await other.getByRole('link', { name: /words 40\] A$/ }).waitFor();
    await other.getByText('Connected', { exact: true }).waitFor();
    await other.getByRole('button', { name: /who you are, and settings/ }).click();
    await other.getByRole('menuitem', { name: 'Sign out, in all tabs' }).click();
    for (const tab of [other, page]) {
      await tab.getByLabel('API key', { exact: true }).waitFor();
      await tab.getByText('Not connected: it asks for a key').waitFor();
    }
    await enter(page.getByLabel('API key', { exact: true }), 'secret');
    await other.getByRole('link', { name: /words 40\] A$/ }).waitFor();
    // A browser in which no tab has the key is asked again.
    await Promise.all([page.close(), other.close()]);
    const later = await context.newPage();
    await later.goto(`${server.url}/runs`);
    await later.getByLabel('API key', { exact: true }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
    await server.stop();
    await model.close();
  });
});

describe('a key that may only read', () => {
  it('is shown with what it may do, and what it may not is disabled with the reason', async () => {
    const model = await fakeModel();
    const digest = (secret: string): string => createHash('sha256').update(secret).digest('hex');
    const server = await Consort.start(
      config(
        model.url,
        `[[server.api_key]]\nname = "eye"\nowner = "hand"\nkey_sha256 = "${digest('looks')}"\nscopes = ["read"]\n` +
          `[[server.api_key]]\nname = "hand"\nkey_sha256 = "${digest('does')}"\nscopes = ["admin"]\n`,
      ),
    );
    const hand = { authorization: 'Bearer does' };
    const { runId } = (await server.call(
      'POST',
      '/api/runs',
      { tasks: [{ name: 'a', description: 'Write', review: 'required' }] },
      hand,
    )) as { runId: string };
    const { page, context, complaints } = await open(browser);
    await page.goto(`${server.url}/runs`);
    await enter(page.getByLabel('API key', { exact: true }), 'looks');
    const start = page.getByRole('button', { name: 'New run' });
    await start.waitFor();
    expect(await start.isDisabled()).toBe(true);
    expect(await start.getAttribute('title')).toBe(
      'Starting and steering needs a key with the scope “run”; eye has read.',
    );
    await page.getByRole('button', { name: 'eye: who you are, and settings' }).click();
    await page.getByText('Scopes: read').waitFor();
    await page.getByText('Runs of hand').waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.goto(`${server.url}/runs/${runId}/graph`);
    await expect.poll(() => page.getByRole('button', { name: 'Pause' }).isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true);
    await page.goto(`${server.url}/reviews`);
    const approve = page.getByRole('button', { name: 'Approve A' });
    await approve.waitFor();
    expect(await approve.getAttribute('title')).toContain('Deciding needs a key with the scope “review”');
    // Neither does its key.
    await page.keyboard.press('a');
    await drawn(page);
    await expect
      .poll(() => page.getByRole('region', { name: 'Decisions not sent yet' }).getByRole('button').count())
      .toBe(0);
    expect(complaints).toEqual([]);
    await context.close();
    await server.stop();
    await model.close();
  });
});

describe('the API', () => {
  it('is described and tried on a page of its own', async () => {
    const server = await Consort.start();
    const { page, context, complaints } = await open(browser);
    await page.goto(`${server.url}/reference`);
    await page.getByRole('textbox', { name: 'Search requests' }).fill('state of the server');
    await page.getByRole('button', { name: /GET\s+\/api\/status/ }).click();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('form', { name: 'Try /api/status' }).getByText('status: running').waitFor();
    expect(complaints).toEqual([]);
    await context.close();
    await server.stop();
  });
});

describe('a server on which nothing has happened', () => {
  it('says where to begin', async () => {
    const server = await Consort.start();
    const { page, context, complaints } = await open(browser);
    await page.goto(server.url);
    await page.getByRole('heading', { name: 'Nothing has happened here yet' }).waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.getByRole('link', { name: 'Ask something' }).click();
    await page.getByRole('heading', { name: 'What would you like to do?' }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
    await server.stop();
  });
});

describe('a page whose parts cannot be fetched', () => {
  it('says so inside the shell, and loads again', async () => {
    const server = await Consort.start();
    const { page, context } = await open(browser);
    await page.goto(`${server.url}/runs`);
    await page.getByText('No runs yet').waitFor();
    await context.setOffline(true);
    await page.getByRole('link', { name: 'Tools' }).click();
    await page.getByRole('heading', { name: 'This page could not be shown' }).waitFor();
    await context.setOffline(false);
    await page.getByRole('button', { name: 'Load it again' }).click();
    await page.getByRole('heading', { name: 'Tools', exact: true }).waitFor();
    await context.close();
    await server.stop();
  });
});

describe('the first paint', () => {
  it('takes less than 400 kB, fetches nothing from elsewhere and obeys a strict policy', async () => {
    const server = await Consort.start();
    const { page, context, complaints } = await open(browser);
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    let bytes = 0;
    const hosts = new Set<string>();
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    page.on('request', (request) => hosts.add(new URL(request.url()).origin));
    const response = await page.goto(`${server.url}/runs`);
    await page.getByText('No runs yet').waitFor();
    expect(bytes).toBeLessThan(400_000);
    expect([...hosts]).toEqual([server.url]);
    const policy = response?.headers()['content-security-policy'] ?? '';
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toContain('unsafe');
    expect(complaints).toEqual([]);
    await context.close();
    await server.stop();
  });
});
