// Being called back: the title, the dot on the icon, and desktop notifications for those who want them.

import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { withHoney } from './server';
import { page, server, withPage, withServer } from './setting';

withServer({ script: { 'Order honey': '[call order_honey {"jars": 3}] [say Ordered.]' }, configured: withHoney });
withPage();

/** Notes what is shown on the desktop, of a page that nobody looks at. */
async function noteNotifications(of: Page): Promise<() => Promise<string[]>> {
  await of.addInitScript(() => {
    const told: string[] = [];
    class Shown extends EventTarget {
      static readonly permission = 'granted';
      static readonly requestPermission = (): Promise<string> => Promise.resolve('granted');
      constructor(title: string, { body }: { body: string }) {
        super();
        told.push(`${title} | ${body}`);
      }
    }
    Object.assign(window, { Notification: Shown, told });
    Object.defineProperty(document, 'hidden', { value: true });
  });
  return () => of.evaluate(() => (window as unknown as { told: string[] }).told);
}

it('a person who works elsewhere is called back for reviews, calls, failures and ends', async () => {
  const told = await noteNotifications(page);
  const icon = (): Promise<string | null> => page.locator('link[rel="icon"]').getAttribute('href');
  await page.goto(`${server.url}/models`);
  await page.getByRole('cell', { name: 'swift' }).first().waitFor();
  expect([await icon(), await page.title()]).toEqual(['/favicon.svg', 'Models · Consort']);
  // Nothing is shown to those who did not ask for it.
  const essay = { tasks: [{ name: 'essay', description: '[say Bees make wax.] Draft', review: 'required' }] };
  const first = await server.submit(essay);
  await expect.poll(() => page.title()).toBe('(1) Models · Consort');
  expect([await icon(), await told()]).toEqual(['/favicon-dot.svg', []]);

  await page.getByRole('button', { name: /who you are/ }).click();
  await page.getByRole('menuitem', { name: 'Notify me on the desktop' }).click();
  await page.getByRole('button', { name: /who you are/ }).click();
  await page.getByRole('menuitem', { name: 'Stop desktop notifications' }).waitFor();
  // The page has to have seen what is there before something is new to it.
  await expect
    .poll(async () => {
      await server.submit(essay);
      return told();
    })
    .toContain('essay waits for your review | Bees make wax.');
  const { id } = (await server.call('POST', '/api/threads', { title: 'Honey' })) as { id: string };
  await server.call('POST', `/api/threads/${id}/messages`, { content: 'Order honey' });
  await expect.poll(async () => (await told()).join('\n')).toContain('May order_honey be called?');

  await server.call('POST', `/api/reviews/${first}-review-0`, { decision: 'CONTINUE' });
  await expect.poll(async () => (await told()).join('\n')).toContain('Draft is done | Bees make wax.');
  const { reviews } = (await server.call('GET', '/api/reviews')) as { reviews: { reviewId: string }[] };
  await expect.poll(() => page.title()).toBe(`(${reviews.length + 1}) Models · Consort`);
  for (const { reviewId } of reviews) await server.call('POST', `/api/reviews/${reviewId}`, { decision: 'CONTINUE' });
  await server.call('POST', `/api/threads/${id}/stop`);
  await expect.poll(icon).toBe('/favicon.svg');
});
