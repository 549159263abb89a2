import type { Locator } from 'playwright-core';
import { afterEach, describe, expect, it } from 'vitest';
import { HOLD_MS } from '../src/review/held';
import { barriers } from './axe';
import { Consort } from './server';
import { model, opened, page, server, withPage, withServer } from './setting';

withServer();
withPage();

afterEach(async () => {
  await opened.context.close();
  // The next test begins with an empty inbox, whatever became of this one.
  const { reviews } = (await server.call('GET', '/api/reviews')) as { reviews: { runId: string }[] };
  await Promise.all(reviews.map(({ runId }) => server.call('POST', `/api/runs/${runId}/cancel`, { mode: 'now' })));
  await expect.poll(open, PATIENT).toBe(0);
});

/** Longer than a decision is held, on a busy machine. */
const PATIENT = { timeout: 60_000 };
const one = (task: object): object => ({ tasks: [{ name: 'essay', ...task }] });
const waiting = (text: string): Locator =>
  page.getByRole('region', { name: 'Waiting' }).getByText(text, { exact: true });
const held = (): Locator => page.getByRole('region', { name: 'Decisions not sent yet' });
/** The review that is shown takes a decision. */
/** The button of one review, and not the one for several. */
const APPROVE = /^Approve(?! several)/;
const settled = (): Promise<void> => page.getByRole('button', { name: APPROVE, disabled: false }).waitFor();
/** Nothing is held any more. */
const sent = (): Promise<void> => held().waitFor({ state: 'hidden' });
/** Reviews open on the server. */
const open = async (): Promise<number> => ((await server.call('GET', '/api/reviews')) as { total: number }).total;

/** Stops the clock by which decisions are held, on the pages opened from now on. */
async function stopClock(): Promise<void> {
  await page.addInitScript((holdMs) => {
    const now = Date.now();
    Date.now = () => now;
    const held = new Map<number, () => void>();
    const [start, stop] = [window.setTimeout.bind(window), window.clearTimeout.bind(window)];
    // Ids that no timer of the browser has.
    let last = 1e9;
    const later = (act: () => void, ms?: number): number => {
      if (ms !== holdMs) return start(act, ms);
      last += 1;
      held.set(last, act);
      return last;
    };
    const cleared = (id?: number): void => {
      if (id === undefined || !held.delete(id)) stop(id);
    };
    const letGo = (): void => {
      const acts = [...held.values()];
      held.clear();
      for (const act of acts) act();
    };
    Object.assign(window, { setTimeout: later, clearTimeout: cleared, letGo });
  }, HOLD_MS);
}

/** Lets the time of the held decisions pass. */
const letGo = (): Promise<void> => page.evaluate(() => (window as unknown as { letGo: () => void }).letGo());

/** Runs that wait for a review each. */
async function several(count: number): Promise<string[]> {
  const before = await open();
  const runs = await Promise.all(
    Array.from({ length: count }, () =>
      server.submit(one({ description: '[say Bees make wax.] Draft', review: 'required' })),
    ),
  );
  await expect.poll(open, PATIENT).toBe(before + count);
  return runs;
}

describe('reviews', () => {
  it('are decided with the keyboard alone', async () => {
    const task = { description: '[say Bees make wax.] Draft', review: 'required' };
    const [first, second] = [await server.submit(one(task)), await server.submit(one(task))];
    await page.goto(`${server.url}/reviews`);
    await waiting('2 waiting').waitFor();
    await expect.poll(() => page.title()).toBe('(2) Reviews · Consort');
    await page.getByRole('region', { name: 'Output' }).getByText('Bees make wax.').waitFor();
    await page.keyboard.press('e');
    await page.getByLabel('The output, as it should be').waitFor();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('Bees make honey.');
    await page.getByRole('region', { name: 'Your changes' }).getByText('honey').waitFor();
    await page.keyboard.press('Control+Enter');
    await waiting('1 waiting').waitFor();
    await settled();
    await page.keyboard.press('r');
    await page.keyboard.type('Name the queen');
    await page.keyboard.press('Control+Enter');
    await page.locator(`a[href$="${second}-review-1"]`).waitFor();
    expect(model.asked.at(-1)?.messages.some(({ content }) => content?.includes('Name the queen'))).toBe(true);
    // What was said about the output before, and what has changed since.
    const earlier = page.getByRole('region', { name: 'Earlier decisions' });
    await earlier.getByText('local rejected the output: “Name the queen”').waitFor();
    await earlier.getByText('It is the same text as before.').waitFor();
    await settled();
    await page.keyboard.press('a');
    await page.getByText('Nothing waits for you').waitFor();
    await sent();
    const output = async (run: string): Promise<unknown> =>
      ((await server.call('GET', `/api/runs/${run}`)) as { tasks: { output: string }[] }).tasks[0]?.output;
    await expect.poll(() => output(first), PATIENT).toBe('Bees make honey.');
    await expect.poll(() => output(second), PATIENT).toBe('Bees make wax.');
  });

  it('are told apart, and several are approved once they are listed', async () => {
    const runs = await Promise.all(
      ['Wasps sting.', 'Ants march.'].map((text) =>
        server.submit(one({ description: `[say ${text}] Draft`, review: 'required' })),
      ),
    );
    await page.goto(`${server.url}/reviews`);
    await waiting('2 waiting').waitFor();
    const inbox = page.getByRole('region', { name: 'Waiting' });
    await inbox.getByText('Wasps sting.', { exact: true }).waitFor();
    await inbox.getByText('Ants march.', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Approve several…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Approve several' });
    await dialog.getByText('Ants march.', { exact: true }).waitFor();
    for (const box of await dialog.getByRole('checkbox').all()) await box.check();
    await dialog.getByRole('button', { name: 'Approve 2' }).click();
    await page.getByText('Nothing waits for you').waitFor();
    await sent();
    for (const run of runs)
      await expect
        .poll(async () => ((await server.call('GET', `/api/runs/${run}`)) as { status: string }).status, PATIENT)
        .toBe('COMPLETED');
  });

  it('can end the run early once that is confirmed, which says so', async () => {
    const run = await server.submit({
      tasks: [
        { name: 'draft', description: 'Draft', review: 'required' },
        { name: 'print', description: 'Print' },
      ],
    });
    await page.goto(`${server.url}/reviews`);
    await settled();
    await page.keyboard.press('x');
    await page.getByRole('group', { name: 'End the run here?' }).waitFor();
    await page.keyboard.press('x');
    await page.keyboard.press('a');
    await page.keyboard.press('Escape');
    await settled();
    await expect.poll(() => held().count()).toBe(0);
    await page.keyboard.press('x');
    await page.keyboard.press('Enter');
    await page.getByText('Nothing waits for you').waitFor();
    await sent();
    await page.goto(`${server.url}/runs/${run}/graph`);
    await page.getByText('Ended early by a reviewer').waitFor();
  });

  it('say that an output was cut before anybody approves it', async () => {
    const small = await Consort.start('[models.demo]\nprovider = "demo"\nmodel = "demo"\nmax_output_tokens = 20\n');
    await small.submit(one({ description: 'Write about tea', onTruncated: 'accept', review: 'required' }));
    await page.goto(`${small.url}/reviews`);
    await page.getByText('This output was cut at the output limit of the model: it is not complete.').waitFor();
    expect(await barriers(page)).toEqual([]);
    await small.stop();
  });

  it('show the output above the decision on a narrow screen', async () => {
    const run = await server.submit(one({ description: '[words 60] Draft', review: 'required' }));
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${server.url}/reviews/${run}-review-0`);
    await page.getByText('word60').waitFor();
    const output = await page.getByRole('region', { name: 'Output' }).boundingBox();
    const approve = await page.getByRole('button', { name: APPROVE }).boundingBox();
    expect((output?.y ?? 0) + (output?.height ?? 0)).toBeLessThanOrEqual(approve?.y ?? 0);
    await page.getByRole('link', { name: 'All reviews' }).waitFor();
    await page.keyboard.press('a');
    await page.getByText('Nothing waits for you').waitFor();
    await sent();
  });

  it('are decided on the page of the run, without leaving it', async () => {
    const run = await server.submit(one({ description: '[say Bees make wax.] Draft', review: 'required' }));
    await stopClock();
    await page.goto(`${server.url}/runs/${run}/graph`);
    await page.getByRole('link', { name: 'Review it' }).click();
    const dialog = page.getByRole('dialog', { name: 'Review' });
    await dialog.getByRole('region', { name: 'Output' }).getByText('Bees make wax.').waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.keyboard.press('e');
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'Approve' }).waitFor();
    await page.keyboard.press('a');
    await dialog.waitFor({ state: 'detached' });
    await held().getByText('essay is approved').waitFor();
    await letGo();
    await page.getByText('Its task is done').waitFor();
    expect(page.url()).toBe(`${server.url}/runs/${run}/graph`);
  });

  it('answer what a task asks a person', async () => {
    const run = await server.submit(
      one({
        description: '[call human_input {"question":"Which colour?","options":["Amber","Black"]}] Ask',
        tools: ['human_input'],
      }),
    );
    await page.goto(`${server.url}/runs/${run}/conversation`);
    await page.getByRole('link', { name: 'Answer it' }).first().click();
    await page.getByRole('button', { name: 'Black' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await sent();
    await expect
      .poll(() => model.asked.at(-1)?.messages.at(-1), PATIENT)
      .toMatchObject({ role: 'tool', content: expect.stringContaining('Black') });
  });

  it('take one decision, and no more, for a key that is held down or a double click', async () => {
    await several(4);
    await page.goto(`${server.url}/reviews`);
    await waiting('4 waiting').waitFor();
    await settled();
    for (let times = 0; times < 30; times += 1) await page.keyboard.down('a');
    await page.keyboard.up('a');
    await waiting('3 waiting').waitFor();
    await settled();
    for (let times = 0; times < 30; times += 1) await page.keyboard.down('a');
    await page.keyboard.up('a');
    await waiting('2 waiting').waitFor();
    await settled();
    await page.getByRole('button', { name: APPROVE }).dblclick();
    await waiting('1 waiting').waitFor();
    await sent();
    await expect.poll(open, PATIENT).toBe(1);
  });

  it('can be taken back for five seconds, with what was written', async () => {
    await several(2);
    await stopClock();
    await page.goto(`${server.url}/reviews`);
    await waiting('2 waiting').waitFor();
    await settled();
    await page.keyboard.press('r');
    await page.keyboard.type('Name the queen');
    await page.keyboard.press('Control+Enter');
    await held().getByText('essay is rejected and runs again').waitFor();
    await held().getByText('sent in 5 s').waitFor();
    await waiting('1 waiting').waitFor();
    expect(await barriers(page)).toEqual([]);
    await settled();
    await page.keyboard.press('a');
    await page.getByText('Nothing waits for you').waitFor();
    await held().getByRole('button', { name: 'Undo' }).first().click();
    await expect.poll(() => page.getByLabel('Feedback').inputValue()).toBe('Name the queen');
    await page.keyboard.press('Escape');
    await page.keyboard.press('z');
    await waiting('2 waiting').waitFor();
    const decided: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') decided.push(request.url());
    });
    await letGo();
    await settled();
    await page.keyboard.press('a');
    await held().getByText('essay is approved').waitFor();
    expect(decided).toEqual([]);
    await letGo();
    await expect.poll(open, PATIENT).toBe(1);
    expect(decided.length).toBe(1);
  });

  it('are not decided by a page that is left', async () => {
    await several(1);
    await stopClock();
    await page.goto(`${server.url}/reviews`);
    await settled();
    await page.keyboard.press('a');
    await held().getByText('essay is approved').waitFor();
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') asked.push(request.url());
    });
    // A page kept by the browser for the way back must not send later either.
    await page.evaluate(() => dispatchEvent(new Event('pagehide')));
    await held().waitFor({ state: 'hidden' });
    await waiting('1 waiting').waitFor();
    await settled();
    await page.keyboard.press('a');
    await held().getByText('essay is approved').waitFor();
    await page.reload();
    await waiting('1 waiting').waitFor();
    expect(asked).toEqual([]);
    expect(await open()).toBe(1);
  });

  it('go to the first decision that arrives, and the other is told so', async () => {
    const [run = ''] = await several(1);
    await stopClock();
    await page.goto(`${server.url}/reviews`);
    await settled();
    await page.keyboard.press('a');
    await held().getByText('essay is approved').waitFor();
    await server.call('POST', `/api/reviews/${run}-review-0`, { decision: 'EDIT', revisedOutput: 'Bees make honey.' });
    await letGo();
    await page.getByText('essay: your decision was not taken').waitFor();
    expect(await server.call('GET', `/api/runs/${run}`)).toMatchObject({ tasks: [{ output: 'Bees make honey.' }] });
  });

  it('take the letters of an answer as the answer', async () => {
    const task = { description: '[call human_input {"question":"Which colour?"}] Ask', tools: ['human_input'] };
    const asking = await server.submit(one(task));
    await expect.poll(open, PATIENT).toBe(1);
    await several(1);
    await stopClock();
    await page.goto(`${server.url}/reviews/${asking}-review-0`);
    const answer = page.getByLabel('Your answer');
    await expect.poll(() => answer.evaluate((field) => field === document.activeElement)).toBe(true);
    await page.keyboard.type('axe, jaxer');
    expect(await answer.inputValue()).toBe('axe, jaxer');
    await page.getByRole('heading', { name: 'essay' }).click();
    await page.keyboard.type('jakerx');
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => held().count()).toBe(0);
    expect(await open()).toBe(2);
    expect(page.url()).toContain(`${asking}-review-0`);
    await answer.focus();
    await page.keyboard.press('Control+Enter');
    await held().getByText('essay gets your answer').waitFor();
    await letGo();
    await sent();
    await expect
      .poll(() => model.asked.at(-1)?.messages.at(-1), PATIENT)
      .toMatchObject({ role: 'tool', content: expect.stringContaining('axe, jaxer') });
  });

  it('keep what is written when the focus is lost, and take no key for a command meanwhile', async () => {
    await several(2);
    await page.goto(`${server.url}/reviews`);
    await waiting('2 waiting').waitFor();
    await settled();
    await page.keyboard.press('e');
    await page.getByLabel('The output, as it should be').fill('Bees make honey.');
    await page.getByRole('heading', { name: 'essay' }).click();
    await page.keyboard.type('axjk');
    expect(await page.getByLabel('The output, as it should be').inputValue()).toBe('Bees make honey.');
    await page.getByRole('region', { name: 'Waiting' }).getByRole('link').nth(1).click();
    await page.getByRole('button', { name: APPROVE }).waitFor();
    await page.getByRole('region', { name: 'Waiting' }).getByRole('link').nth(0).click();
    await expect.poll(() => page.getByLabel('The output, as it should be').inputValue()).toBe('Bees make honey.');
    expect(await open()).toBe(2);
  });
});
