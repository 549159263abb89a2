import { describe, expect, it } from 'vitest';
import { duration } from '../src/ui/format';
import { enter, open, type Opened } from './browser';
import { browser, server, withServer } from './setting';

withServer();

/** The rounds of calls of each task; `make chaos` lets them make a hundred thousand events. */
const ROUNDS = process.env['CONSORT_ALL_LOOKS'] ? 5 : 2;
const EVENTS_MIN = ROUNDS * 20_000;
const MIDDLE = EVENTS_MIN / 2;
const NODES_MAX = 3_000;
/** Bytes read to open a run, the page included; its events alone are many times that. */
const READ_MAX = 10_000_000;
const nodes = 'document.querySelectorAll("*").length';

describe(`a run of ${EVENTS_MIN} events`, () => {
  it('opens by its end, scrolls anywhere and keeps the page small', async () => {
    const tasks = Array.from({ length: 40 }, (_, task) => ({
      name: `task ${task}`,
      description: `[loop ${ROUNDS} calculator 255] Count ${task}`,
      tools: ['calculator'],
    }));
    const run = await server.finish({ tasks, options: { workflow: 'PARALLEL' } });
    const { eventCount, status } = (await server.call('GET', `/api/runs/${run}`)) as {
      eventCount: number;
      status: string;
    };
    expect(status).toBe('COMPLETED');
    expect(eventCount).toBeGreaterThan(EVENTS_MIN);

    const { page, context, complaints } = await open(browser);
    page.setDefaultTimeout(60_000);
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    let bytes = 0;
    session.on('Network.dataReceived', ({ dataLength }) => {
      bytes += dataLength;
    });
    await page.goto(`${server.url}/runs/${run}/graph`);
    await page.getByRole('button', { name: /task 39/ }).waitFor();
    await page.getByText(/Details from event/).waitFor();
    expect(bytes).toBeLessThan(READ_MAX);
    expect(await page.evaluate(nodes)).toBeLessThan(NODES_MAX);

    await page.goto(`${server.url}/runs/${run}/events?event=${MIDDLE}`);
    const list = page.getByRole('region', { name: 'Events' });
    await list.getByText(String(MIDDLE), { exact: true }).waitFor();
    await page.getByRole('heading', { name: new RegExp(`^#${MIDDLE} [a-z_]+$`) }).waitFor();
    const { events } = (await server.call('GET', `/api/runs/${run}/events?from=${MIDDLE}&limit=1`)) as {
      events: { turnId: string }[];
    };
    await list
      .getByRole('link', { name: new RegExp(`^${MIDDLE} .* task ${Number(events[0]?.turnId) - 1} `) })
      .waitFor();
    await list.evaluate((box) => {
      box.scrollTop = box.scrollHeight;
    });
    await list.getByText('ensemble_completed').waitFor();
    await list.evaluate((box) => {
      box.scrollTop = 0;
    });
    await list.getByText('run_accepted').waitFor();
    expect(await page.evaluate(nodes)).toBeLessThan(NODES_MAX);

    await page.setViewportSize({ width: 390, height: 844 });
    await list.getByText('run_accepted').waitFor();
    expect(await page.evaluate(nodes)).toBeLessThan(NODES_MAX);
    await page.setViewportSize({ width: 1440, height: 900 });

    await page.getByRole('link', { name: 'Timeline' }).click();
    const timeline = page.getByRole('region', { name: 'Timeline' });
    await timeline.getByRole('link', { name: 'task 5', exact: true }).waitFor();
    // Only the last of its events are read, yet every task says how long it took.
    const { tasks: ran } = (await server.call('GET', `/api/runs/${run}`)) as {
      tasks: { name: string; startedAt: string; completedAt: string }[];
    };
    const took = Object.fromEntries(
      ran.map(({ name, startedAt, completedAt }) => [name, duration(Date.parse(completedAt) - Date.parse(startedAt))]),
    );
    const shown = await timeline
      .locator('small')
      .evaluateAll((all) =>
        all.map((small) => [small.parentElement?.querySelector('a')?.textContent ?? '', small.textContent ?? '']),
      );
    expect(shown.length).toBeGreaterThan(10);
    expect(shown).toEqual(shown.map(([name = '']) => [name, took[name]]));
    expect(await page.evaluate(nodes)).toBeLessThan(NODES_MAX);
    expect(complaints).toEqual([]);
  }, 300_000);
});

describe('an answer of a hundred thousand deltas', () => {
  const GROWTH_MAX_MB = 25;

  /** Megabytes in use once what nobody needs is thrown away. */
  async function heap({ page, context }: Opened): Promise<number> {
    const session = await context.newCDPSession(page);
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    await session.detach();
    return usedSize / 1e6;
  }

  it("leaves the memory of a run's page flat while it is read", async () => {
    const opened = await open(browser);
    const { page } = opened;
    const run = await server.submit({ tasks: [{ name: 'flood', description: '[words 100000] Go' }] });
    await page.goto(`${server.url}/runs/${run}/conversation`);
    await page
      .getByText(/word\d+ /)
      .first()
      .waitFor();
    const before = await heap(opened);
    await page.getByText('Completed', { exact: true }).first().waitFor({ timeout: 200_000 });
    await page.getByText('word100000').waitFor();
    expect((await heap(opened)) - before).toBeLessThan(GROWTH_MAX_MB);
    expect(await page.evaluate(nodes)).toBeLessThan(NODES_MAX);
    await opened.context.close();
  }, 300_000);

  it('leaves the memory of a chat flat', async () => {
    const opened = await open(browser);
    const { page } = opened;
    const { id } = (await server.call('POST', '/api/threads', { title: 'Flood' })) as { id: string };
    await page.goto(`${server.url}/chat/${id}`);
    await enter(page.getByRole('textbox', { name: 'Message' }), '[words 100000] Go');
    await page
      .getByRole('log')
      .getByText(/word\d+ /)
      .first()
      .waitFor();
    const before = await heap(opened);
    await page.getByRole('log').locator('footer').waitFor({ timeout: 200_000 });
    await page.getByText('word100000').waitFor();
    expect((await heap(opened)) - before).toBeLessThan(GROWTH_MAX_MB);
    expect(opened.complaints).toEqual([]);
    await opened.context.close();
  }, 300_000);
});
