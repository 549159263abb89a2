// What was found by looking at every page: nothing is cut, too faint, or broken within a word.

import { expect, it } from 'vitest';
import { open } from './browser';
import { browser, server, withServer } from './setting';

const PHONE = { width: 390, height: 844 };

withServer();

it('a phone shows the tabs of a run and, beside them, all of the button that replays it', async () => {
  const run = await server.finish({ tasks: [{ name: 'write', description: '[say Done.] Write' }] });
  const { page, context, complaints } = await open(browser, PHONE);
  await page.goto(`${server.url}/runs/${run}/graph`);
  const replay = await page.getByRole('button', { name: 'Replay' }).boundingBox();
  expect(replay?.width).toBeGreaterThanOrEqual(24);
  expect((replay?.x ?? 0) + (replay?.width ?? 0)).toBeLessThanOrEqual(PHONE.width);
  const tabs = await page.getByRole('navigation', { name: 'Views of the run' }).boundingBox();
  expect((tabs?.x ?? 0) + (tabs?.width ?? 0)).toBeLessThanOrEqual(replay?.x ?? 0);
  expect(complaints).toEqual([]);
  await context.close();
});

it('a phone compares two runs without breaking a word of their difference', async () => {
  const [first, second] = [
    await server.finish({ tasks: [{ name: 'write', description: '[say Short.] Write' }], inputs: { for: 'Ada' } }),
    await server.finish({ tasks: [{ name: 'write', description: '[words 60] Write' }], inputs: { for: 'beginners' } }),
  ];
  const { page, context } = await open(browser, PHONE);
  await page.goto(`${server.url}/compare?a=${first}&b=${second}`);
  const table = page.getByRole('table', { name: 'The two runs' });
  const shown = [
    table.getByText('Difference'),
    table.getByText('different').first(),
    table.getByRole('cell', { name: 'beginners' }),
  ];
  for (const words of shown) {
    const lines = await words.evaluate((at) => at.getClientRects().length);
    const height = await words.evaluate((at) => {
      const range = document.createRange();
      range.selectNodeContents(at);
      return range.getClientRects().length;
    });
    expect([lines, height]).toEqual([1, 1]);
  }
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
  await context.close();
});

it('filters stand in two columns on a phone', async () => {
  const { page, context } = await open(browser, PHONE);
  await page.goto(`${server.url}/runs`);
  const bar = page.getByRole('search', { name: 'Runs' });
  const edge = async (name: string): Promise<number> =>
    Math.round((await bar.getByLabel(name, { exact: true }).boundingBox())?.x ?? -1);
  await bar.getByLabel('Status').waitFor();
  expect(await edge('Kind of runs')).toBe(await edge('Words in a run'));
  expect(await edge('Order')).toBe(await edge('Status'));
  await context.close();
});

it('an ended run shows the beginning of its output in the list, and a question is not called a review', async () => {
  const said = 'The bees came through the winter well';
  const tag = { look: 'list' };
  await server.finish({ tags: tag, tasks: [{ name: 'write', description: `[say ${said}.] Write` }] });
  const question = '[call human_input {"question":"Which colour?"}] Ask';
  await server.submit({ tags: tag, tasks: [{ name: 'ask', description: question, tools: ['human_input'] }] });
  const { page, context } = await open(browser);
  await page.goto(`${server.url}/runs?tag=look:list`);
  await page.getByRole('cell', { name: said }).waitFor();
  await page.getByRole('cell', { name: /^waits for an answer, .* · ask$/ }).waitFor();
  expect(await page.getByText('waits for a review').count()).toBe(0);
  await context.close();
});

it('the links of a graph stand out from the ground, light and dark', async () => {
  const tasks = [
    { name: 'one', description: '[say 1] One' },
    { name: 'two', description: '[say 2] Two', context: ['$one'] },
  ];
  const run = await server.finish({ tasks });
  for (const scheme of ['light', 'dark'] as const) {
    const { page, context } = await open(browser, { scheme });
    await page.goto(`${server.url}/runs/${run}/graph`);
    const link = page.locator('.react-flow__edge-path').first();
    await link.waitFor({ state: 'attached' });
    const colours = await link.evaluate((at) => [
      getComputedStyle(at).stroke,
      getComputedStyle(document.body).backgroundColor,
    ]);
    expect(contrast(colours[0] ?? '', colours[1] ?? '')).toBeGreaterThanOrEqual(3);
    await context.close();
  }
});

/** The contrast of two colours, as WCAG counts it. */
function contrast(one: string, other: string): number {
  const [high = 0, low = 0] = [one, other].map(luminance).toSorted((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map((part) => {
    const share = Number(part) / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

it('a review that is opened on the page of its run has the focus on its name, and no button', async () => {
  const run = await server.submit({
    tasks: [{ name: 'draft', description: '[say Draft.] Draft', review: 'required' }],
  });
  const { page, context } = await open(browser);
  await page.goto(`${server.url}/runs/${run}/graph?review=${run}-review-0`);
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('draft');
  await context.close();
});

it('a chat that does not exist says so, with the way to the others', async () => {
  const { page, context } = await open(browser);
  await page.goto(`${server.url}/chat/thread-00000000000000000000000000000000`);
  await page.getByText('There is no such chat').waitFor();
  await page.getByRole('link', { name: 'All chats' }).click();
  await expect.poll(() => new URL(page.url()).pathname).toBe('/chat');
  await context.close();
});
