import { createHash } from 'node:crypto';
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { barriers } from './axe';
import { enter } from './browser';
import { config, Consort, withHoney } from './server';
import { model, opened, page, server, withPage, withServer } from './setting';

const SCRIPT = {
  'Compare the hives':
    '[call run_subtask {"title":"Hive one","instructions":"Look at the first hive"}] ' +
    '[call run_subtask {"title":"Hive two","instructions":"Look at the second hive"}] ' +
    '[say Both hives are **fine**.]',
  'Look at the first hive': '[call calculator {"input":"6 * 7"}] [words 30]',
  'Look at the second hive': '[call calculator {"input":"5 * 5"}] [words 10]',
  'Order honey': '[call order_honey {"jars": 3}] [say It is settled.]',
};

withServer({ script: SCRIPT, configured: withHoney });
withPage();

beforeEach(async () => {
  await page.goto(`${server.url}/chat`);
});

async function say(text: string): Promise<void> {
  await enter(page.getByRole('textbox', { name: 'Message' }), text);
  await page.waitForURL(/\/chat\/(?!new)/);
}

const talk = (): ReturnType<Page['locator']> => page.getByRole('log');
const cost = (): ReturnType<Page['locator']> => talk().locator('footer').last();

describe('a chat', () => {
  it('streams, and nests the calls of parallel subtasks, the same after a reload', async () => {
    await say('Compare the hives');
    await talk()
      .getByRole('button', { name: /Hive one/ })
      .waitFor();
    await talk()
      .getByRole('button', { name: /Hive two/ })
      .waitFor();
    await talk().getByText('Both hives are fine.').waitFor();
    await cost().getByText('2 subtasks').waitFor();
    expect(
      await talk()
        .getByRole('button', { name: /calculator/ })
        .count(),
    ).toBe(0);
    await talk()
      .getByRole('button', { name: /Hive one/ })
      .click();
    await talk()
      .getByRole('button', { name: /calculator.*42/ })
      .waitFor();
    const cards = async (): Promise<string[]> => talk().getByRole('button').allInnerTexts();
    const live = await cards();
    await page.reload();
    await talk()
      .getByRole('button', { name: /Hive one/ })
      .click();
    await expect.poll(cards).toEqual(live);
    await cost().getByText('2 subtasks').waitFor();
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    await page
      .getByRole('region', { name: 'Usage over time' })
      .getByText(/^[\d,.]+k? in all, [\d,.]+k? in chats$/)
      .waitFor();
  });

  it('is renamed, and deleted only after a question', async () => {
    await say('[say Hello.] Greet me with many more words than there is room for in the list');
    await talk().getByText('Hello.', { exact: true }).waitFor();
    const threads = page.getByRole('region', { name: 'Chats' });
    const more = threads.getByRole('button', { name: /More about .*Greet me/ });
    const [button, list] = [await more.boundingBox(), await threads.boundingBox()];
    expect((button?.x ?? 0) + (button?.width ?? 0)).toBeLessThan((list?.x ?? 0) + (list?.width ?? 0));
    await more.click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await page.getByLabel('Title').fill('Greetings');
    await page.getByRole('button', { name: 'Rename' }).click();
    await threads.getByRole('button', { name: 'More about Greetings' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog', { name: 'Delete Greetings?' }).getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL(`${server.url}/chat`);
    await expect.poll(() => threads.getByRole('link', { name: 'Greetings' }).count()).toBe(0);
  });

  it('asks before an effect with the exact arguments, and does or leaves it as told', async () => {
    await say('Order honey');
    const question = page.getByRole('alertdialog', { name: 'May order_honey be called?' });
    await question.getByText('jars: 3').waitFor();
    await talk()
      .getByRole('button', { name: /Waiting.*order_honey/ })
      .waitFor();
    await page.getByRole('link', { name: /Chat.*1 waiting/ }).waitFor();
    await page.getByRole('log').focus();
    await page.keyboard.press('n');
    await enter(question.getByLabel('Reason'), 'We have enough honey');
    await talk().getByText('It is settled.').waitFor();
    await talk().getByText('local denied order_honey').waitFor();
    await say('Order honey again');
    await question.getByRole('button', { name: 'Allow once' }).click();
    await expect.poll(() => talk().getByText('It is settled.').count()).toBe(2);
    await talk()
      .getByRole('button', { name: /order_honey.*done/ })
      .waitFor();
  });

  it('makes a call with the arguments that were changed, once they fit', async () => {
    await say('Order honey');
    const question = page.getByRole('alertdialog', { name: 'May order_honey be called?' });
    await question.getByText('jars: 3').waitFor();
    await talk().focus();
    await page.keyboard.press('e');
    const field = question.getByRole('textbox', { name: 'Arguments' });
    await field.fill('{"jars": "many"}');
    await question.getByRole('button', { name: 'Allow with these arguments' }).click();
    await question.getByText(/changed arguments cannot be used/).waitFor();
    await field.fill('{"jars": ');
    await question.getByText('This is not a JSON object').waitFor();
    expect(await barriers(page)).toEqual([]);
    await field.fill('{"jars": 1}');
    await field.press('Control+Enter');
    await talk().getByText('It is settled.').waitFor();
    await talk().getByText('local allowed order_honey with other arguments').waitFor();
    const told = model.asked.at(-1)?.messages.findLast(({ role }) => role === 'tool')?.content;
    expect(told).toContain('changed the arguments of this call to {"jars":1}');
    await talk()
      .getByRole('button', { name: /order_honey.*done/ })
      .click();
    await talk().getByText('jars: 1', { exact: true }).waitFor();
  });

  it('is stopped, and what was said while it ran takes its turn or its place', async () => {
    await say('[hold 3] Tell a long story');
    await talk()
      .getByText(/word\d+ /)
      .waitFor();
    await page.getByRole('combobox', { name: 'Permission mode' }).click();
    await page.getByRole('option', { name: 'Plan: no effects' }).click();
    await talk().getByText('local changed the mode: no effects').waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill('[say Later.] And then?');
    await page.getByRole('button', { name: 'Queue' }).click();
    await talk().getByText('Waits in the queue').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await talk().getByText('Stopped', { exact: true }).waitFor();
    const lines = await talk()
      .getByRole('region', { name: /^Turn: .*long story/ })
      .innerText();
    expect(lines.indexOf('word1 ')).toBeLessThan(lines.indexOf('Stopped'));
    await talk().getByText('the model did not report its usage').waitFor();
    await talk().getByText('Later.', { exact: true }).waitFor();
    await say('[hold 3] A second story');
    await talk()
      .getByText(/word\d+ /)
      .nth(1)
      .waitFor();
    await page.getByRole('combobox', { name: 'Model' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    await page.getByRole('textbox', { name: 'Message' }).focus();
    await page.keyboard.press('Escape');
    await expect.poll(() => talk().getByText('Stopped', { exact: true }).count()).toBe(2);
    await say('[hold 3] Another story');
    await talk()
      .getByText(/word\d+ /)
      .nth(2)
      .waitFor();
    await talk().focus();
    await page.keyboard.press('Escape');
    await expect.poll(() => talk().getByText('Stopped', { exact: true }).count()).toBe(3);
    await say('[hold 3] A last story');
    await talk()
      .getByText(/word\d+ /)
      .nth(3)
      .waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill('[say At once.] No, this');
    await page.getByRole('button', { name: 'Interrupt' }).click();
    await talk().getByText('At once.', { exact: true }).waitFor();
  });
});

describe('a message that is not taken', () => {
  const composer = (): ReturnType<Page['locator']> => page.getByRole('textbox', { name: 'Message' });
  const refusal = (): ReturnType<Page['locator']> =>
    page.getByRole('alert').filter({ hasText: 'Your message was not sent' });

  /** Says it, and has it back with the reason. */
  async function isReturned(text: string, reason: RegExp): Promise<void> {
    await enter(composer(), text);
    await refusal().getByText(reason).waitFor();
    expect(await composer().inputValue()).toBe(text);
  }

  it('comes back while there is no network, and is sent once there is', async () => {
    await composer().waitFor();
    await opened.context.setOffline(true);
    await isReturned('[say Here.] Are you there?', /cannot be reached/);
    await opened.context.setOffline(false);
    await composer().press('Enter');
    await talk().getByText('Here.', { exact: true }).waitFor();
    expect(await composer().inputValue()).toBe('');
    await expect.poll(() => refusal().count()).toBe(0);
    await opened.context.setOffline(true);
    await isReturned('[say Still here.] And now?', /cannot be reached/);
    await page.getByRole('link', { name: 'New chat' }).click();
    await page.getByRole('heading', { name: 'What would you like to do?' }).waitFor();
    expect(await composer().inputValue()).toBe('');
    await opened.context.setOffline(false);
    await page.goBack();
    await expect.poll(() => composer().inputValue()).toBe('[say Still here.] And now?');
    await composer().press('Enter');
    await talk().getByText('Still here.', { exact: true }).waitFor();
  });

  it('comes back from a server that drains, and keeps what was typed meanwhile', async () => {
    const draining = await Consort.start(config(model.url));
    await page.goto(`${draining.url}/chat`);
    await say('[say Hello.] Hi');
    await talk().getByText('Hello.', { exact: true }).waitFor();
    // The turn under way keeps it from ending.
    await draining.submit({ tasks: [{ name: 'story', description: '[hold] Go' }] });
    await draining.call('POST', '/api/lifecycle/drain');
    await isReturned('Are you there?', /^DRAINING/);
    let refuse = (): void => undefined;
    const asked = new Promise<void>((ready) => {
      void page.route('**/messages', async (route) => {
        await new Promise<void>((go) => {
          refuse = go;
          ready();
        });
        await route.continue();
      });
    });
    await composer().press('Enter');
    await asked;
    await composer().fill('And another thing');
    refuse();
    await expect.poll(() => composer().inputValue()).toBe('Are you there?\n\nAnd another thing');
    await draining.stop();
  });

  it('comes back from a server that does not allow it, and outlives the asking for a key', async () => {
    const hash = (key: string): string => createHash('sha256').update(key).digest('hex');
    const keys = [
      ['reader', '["read"]'],
      ['writer', '["read", "run"]'],
    ].map(
      ([name = '', scopes]) =>
        `[[server.api_key]]\nname = "${name}"\nkey_sha256 = "${hash(name)}"\nscopes = ${scopes}\n`,
    );
    const keyed = await Consort.start(config(model.url, keys.join('')));
    const give = async (key: string): Promise<void> => {
      await enter(page.getByLabel('API key', { exact: true }), key);
    };
    await page.goto(`${keyed.url}/chat/new`);
    await give('reader');
    await isReturned('[say Welcome.] May I?', /scope|allow/i);
    await page.evaluate(() => sessionStorage.clear());
    await composer().press('Enter');
    await give('writer');
    await expect.poll(() => composer().inputValue()).toBe('[say Welcome.] May I?');
    await composer().press('Enter');
    await talk().getByText('Welcome.', { exact: true }).waitFor();
    await keyed.stop();
  });
});

describe('a budget', () => {
  it('that is spent is shown where it ran out, and after a reload', async () => {
    const small = await Consort.start(config(model.url, '[chat.budget]\nmax_total_tool_calls = 1\n'));
    await page.goto(`${small.url}/chat`);
    await say('[call calculator {"input":"1+1"}] [call calculator {"input":"2+2"}] [say Enough.] Count');
    const limit = talk()
      .getByText(/tool calls/)
      .first();
    // A turn that ended before the page was there is shown by its row first; its costs come with its frames.
    await talk().locator('footer').waitFor();
    const said = await limit.innerText();
    await page.reload();
    await expect.poll(() => limit.innerText()).toBe(said);
    await small.stop();
  });
});

describe('an answer', () => {
  it('that was cut says so, after a reload too, and is gone on with', async () => {
    const small = await Consort.start('[models.demo]\nprovider = "demo"\nmodel = "demo"\nmax_output_tokens = 20\n');
    await page.goto(`${small.url}/chat`);
    await say('Write about tea');
    const mark = talk().getByText(/was cut at the model’s output limit/);
    await mark.waitFor();
    await page.reload();
    await talk().getByRole('button', { name: 'Continue' }).click();
    await talk()
      .getByText(/^Continue exactly where your answer was cut off/)
      .waitFor();
    await talk().locator('footer').last().waitFor();
    await expect.poll(() => talk().getByRole('button', { name: 'Continue' }).count()).toBeLessThanOrEqual(1);
    expect(await barriers(page)).toEqual([]);
    await small.stop();
  });

  it('that never came says why, after a reload too', async () => {
    const demo = await Consort.start();
    await page.goto(`${demo.url}/chat`);
    await say('Say nothing');
    const why = talk()
      .getByText(/EMPTY_ANSWER/)
      .first();
    await why.waitFor();
    await page.reload();
    await why.waitFor();
    await demo.stop();
  });
});

describe('a turn that is over', () => {
  it('is copied, asked again, and changed in a branch, with both kept', async () => {
    await opened.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await say('[say Bees make wax.] Tell me');
    await talk().getByText('Bees make wax.', { exact: true }).waitFor();
    await talk().getByRole('button', { name: 'Copy the answer' }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('Bees make wax.');
    await talk().getByRole('button', { name: 'Regenerate the answer' }).click();
    await expect.poll(() => talk().getByText('Bees make wax.', { exact: true }).count()).toBe(2);
    const first = new URL(page.url()).pathname;
    await talk().getByRole('button', { name: 'Edit the message and send it again' }).last().click();
    const message = page.getByRole('textbox', { name: 'Message' });
    await expect.poll(() => message.inputValue()).toBe('[say Bees make wax.] Tell me');
    await page.getByText('It goes into a branch; this chat stays as it is.').waitFor();
    await enter(message, '[say Bees make honey.] Tell me');
    await page.waitForURL((url) => url.pathname !== first);
    const isBranch = async (): Promise<void> => {
      await talk().getByText('Bees make honey.', { exact: true }).waitFor();
      await expect.poll(() => talk().getByText('Bees make wax.', { exact: true }).count()).toBe(1);
    };
    await isBranch();
    expect(await barriers(page)).toEqual([]);
    await page.reload();
    await isBranch();
    await page.getByRole('link', { name: 'Branched off from another chat' }).click();
    await page.waitForURL(server.url + first);
    await expect.poll(() => talk().getByText('Bees make wax.', { exact: true }).count()).toBe(2);
    await expect.poll(() => talk().getByText('Bees make honey.', { exact: true }).count()).toBe(0);
  });

  it('has its formulas and diagrams drawn, with nothing from elsewhere', async () => {
    const elsewhere: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(server.url)) elsewhere.push(request.url());
    });
    await say('[say It is $E = mc^2$.\n\n```mermaid\nflowchart LR\n  hive --> honey\n```\n] Draw it');
    await talk().locator('math').waitFor();
    await talk().getByRole('figure', { name: 'Diagram' }).getByRole('img').waitFor();
    await expect.poll(() => talk().locator('math [style], figure svg [style]').count()).toBe(0);
    expect(await barriers(page)).toEqual([]);
    expect(elsewhere).toEqual([]);
  });
});

describe('what is remembered', () => {
  it('is noted where it is wanted, shown and forgotten', async () => {
    const demo = await Consort.start();
    await page.goto(`${demo.url}/chat`);
    const open = page.getByRole('button', { name: 'Facts about you' });
    await open.click();
    const memory = page.getByRole('dialog', { name: 'Facts about you' });
    await memory.getByText('No facts about you are stored.').waitFor();
    await memory.getByRole('switch', { name: 'Remember facts about me' }).check();
    await page.keyboard.press('Escape');
    await memory.waitFor({ state: 'hidden' });
    await say('I am allergic to peanuts.');
    await talk().locator('footer').waitFor();
    await open.click();
    await memory.getByText(/allergic to peanuts/).waitFor();
    expect(await barriers(page)).toEqual([]);
    await memory.getByRole('button', { name: /^Forget: .*peanuts/ }).click();
    await memory.getByText('No facts about you are stored.').waitFor();
    expect(await demo.call('GET', '/api/facts')).toMatchObject({ total: 0 });
    await demo.stop();
  });
});
