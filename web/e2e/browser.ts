// Debian's Chromium, driven. Whatever a page complains about, the content security policy included, is an error.

import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Locator, type Page, type Request } from 'playwright-core';

/** The first of these is made for this and starts faster. */
const BROWSERS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const CHROMIUM = process.env['CHROMIUM'] ?? BROWSERS.find((path) => existsSync(path)) ?? '';

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
}

export interface Opened {
  context: BrowserContext;
  page: Page;
  complaints: string[];
  /** Returns when the page has what it asked for and stands still. */
  settled: () => Promise<void>;
}

/** Milliseconds without a change after which a page stands still. */
const STILL_MS = 100;
/** Milliseconds after which a page that shows work under way is taken as it is. */
const STILL_MAX_MS = 1_000;

export async function open(
  browser: Browser,
  options: { width?: number; height?: number; scheme?: 'light' | 'dark'; locale?: string } = {},
): Promise<Opened> {
  const { width = 1440, height = 900, scheme = 'light', locale = 'en-GB' } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    locale,
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // Failed requests are the test's business.
    const isFailed = /^(Failed to load resource|WebSocket connection to)/.test(message.text());
    if (message.type() === 'error' && !isFailed) complaints.push(message.text());
  });
  const asked = requests(page);
  const settled = async (): Promise<void> => {
    const end = Date.now() + STILL_MAX_MS;
    do await page.evaluate(stillness, STILL_MS);
    while (asked.size > 0 && Date.now() < end);
  };
  return { context, page, complaints, settled };
}

/** The requests of a page that have no answer yet. Streams have no end to wait for. */
function requests(page: Page): Set<Request> {
  const open = new Set<Request>();
  page.on('request', (request) => {
    if (!request.headers()['accept']?.includes('event-stream')) open.add(request);
  });
  page.on('requestfinished', (request) => open.delete(request));
  page.on('requestfailed', (request) => open.delete(request));
  return open;
}

/** Returns when nothing on the page has changed for a while, or ten times that has passed. */
function stillness(ms: number): Promise<void> {
  return new Promise((done) => {
    const stop = (): void => {
      watch.disconnect();
      clearTimeout(quiet);
      clearTimeout(late);
      done();
    };
    let quiet = setTimeout(stop, ms);
    const late = setTimeout(stop, ms * 10);
    const watch = new MutationObserver(() => {
      clearTimeout(quiet);
      quiet = setTimeout(stop, ms);
    });
    watch.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  });
}

/** Writes into the field and presses Enter there, wherever a dialog that just closed puts the focus meanwhile. */
export async function enter(field: Locator, text: string): Promise<void> {
  await field.fill(text);
  await field.press('Enter');
}

/** Returns when the page was drawn after what was done to it last. */
export async function drawn(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/** Drops files on the element with this text, as a person drags them in from elsewhere. */
export async function drop(
  page: Page,
  on: string,
  files: { name: string; text: string; type?: string }[],
): Promise<void> {
  const carried = await page.evaluateHandle((given) => {
    const transfer = new DataTransfer();
    for (const { name, text, type = '' } of given) transfer.items.add(new File([text], name, { type }));
    return transfer;
  }, files);
  const target = page.getByText(on).first();
  for (const type of ['dragenter', 'dragover', 'drop']) await target.dispatchEvent(type, { dataTransfer: carried });
}
