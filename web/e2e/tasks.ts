// How long a page is deaf to its user: the longest task of its main thread, by the processor time it took. By the
// clock it would also be what other programs do on the machine.

import type { Browser, Page } from 'playwright-core';

interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  tdur?: number;
  dur?: number;
  args: { name?: string };
}

/** Milliseconds of the longest task of the page while this is done. */
export async function longestTask(browser: Browser, page: Page, act: () => Promise<void>): Promise<number> {
  await browser.startTracing(page, { categories: ['toplevel', '__metadata'] });
  await act();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  const mains = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const tasks = traceEvents.filter(({ pid, tid, tdur }) => tdur !== undefined && mains.has(`${pid} ${tid}`));
  if (tasks.length === 0) throw new Error('the browser told of no task');
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1_000;
}
