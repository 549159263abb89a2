// Debian's Chromium, driven. Whatever a page complains about, the content security policy included, is an error.

import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
}

export interface Opened {
  context: BrowserContext;
  page: Page;
  complaints: string[];
}

export async function open(
  browser: Browser,
  options: { width?: number; height?: number; scheme?: 'light' | 'dark' } = {},
): Promise<Opened> {
  const { width = 1440, height = 900, scheme = 'light' } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // Failed requests are the test's business.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(message.text());
  });
  return { context, page, complaints };
}
