// The browser, the model, the server and the page of the tests of one file. A file says at its top which of them it needs;
// from then on these are its own, because every file has this module for itself.

import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { launch, open, type Opened } from './browser';
import { type FakeModel, fakeModel, type Script } from './model';
import { config, Consort } from './server';

export let browser: Browser;
export let model: FakeModel;
export let server: Consort;
export let opened: Opened;
export let page: Page;

export function withBrowser(): void {
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());
}

/** A browser and a model that answers by this script. */
export function withModel(script: Script = {}): void {
  withBrowser();
  beforeAll(async () => {
    model = await fakeModel(script);
  });
  afterAll(() => model.close());
}

/** A browser, a model that answers by this script, and a server on it. */
export function withServer({
  script,
  configured = config,
}: { script?: Script; configured?: typeof config } = {}): void {
  withModel(script);
  beforeAll(async () => {
    server = await Consort.start(configured(model.url));
  });
  afterAll(() => server.stop());
}

/** A page for each test, which fails with whatever the page complains about. */
export function withPage(): void {
  beforeEach(async () => {
    opened = await open(browser);
    page = opened.page;
  });
  afterEach(async () => {
    await opened.context.close();
    expect(opened.complaints).toEqual([]);
  });
}
