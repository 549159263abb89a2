import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enter } from './browser';
import { fakeModel, type FakeModel } from './model';
import { config, Consort } from './server';
import { page, withBrowser, withPage } from './setting';

interface Saved {
  id: string;
  version: number;
  name: string;
  tasks: { name: string; description: string; context?: string[]; tools?: string[]; agent?: { role: string } }[];
}

withBrowser();
withPage();

/** A task on the canvas: by what it is called and reads, or by how that begins. */
function task(name: string | RegExp): ReturnType<Page['locator']> {
  const whole =
    typeof name === 'string'
      ? new RegExp(`^${name.replaceAll(',', ' ?,')} ?\\.`)
      : new RegExp(name.source.replaceAll(',', ' ?,'));
  return page.getByRole('group', { name: 'Tasks and their links' }).getByRole('button', { name: whole });
}

const field = (name: string): ReturnType<Page['locator']> =>
  page
    .getByRole('form')
    .getByLabel(name, { exact: name === 'Name' })
    .and(page.locator('input, textarea'))
    .first();
const talk = (): ReturnType<Page['locator']> => page.getByRole('log');
const standing = (text: string): Promise<void> =>
  page
    .getByRole('banner')
    .getByText(text, { exact: true })
    .or(page.getByText(text, { exact: true }))
    .first()
    .waitFor();

async function say(text: string): Promise<void> {
  const turns = await talk().locator('footer').count();
  await enter(page.getByRole('textbox', { name: 'Message' }), text);
  await expect.poll(() => talk().locator('footer').count()).toBe(turns + 1);
}

async function save(): Promise<void> {
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect.poll(() => page.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true);
}

const REPORT = {
  name: 'report',
  tasks: [
    { name: 'read', description: 'Read about {topic}', position: { x: 0, y: 0 } },
    { name: 'write', description: 'Write it up', context: ['$read'], position: { x: 320, y: 0 } },
  ],
};

describe('the editor on the built-in demo model', () => {
  let server: Consort;
  const saved = async (): Promise<Saved> =>
    (await server.call('GET', `/api/workflows/${new URL(page.url()).pathname.split('/').at(-1)}`)) as Saved;

  beforeAll(async () => {
    server = await Consort.start();
  });

  afterAll(() => server.stop());

  it('builds by chat before the eyes, changes it by chat and by hand, undoes, saves, runs and watches in place', async () => {
    await page.goto(`${server.url}/workflows`);
    await page.getByRole('link', { name: 'Draw a workflow' }).click();
    await page.getByRole('button', { name: 'Describe it' }).click();
    await say('Build a workflow that researches tea, researches coffee, compares both and writes a report');
    await talk()
      .getByRole('button', { name: /build_workflow.*Planned 4 tasks: research tea/ })
      .waitFor();
    await task('write report, reads compare both').waitFor();
    await task('compare both, reads research tea, research coffee').waitFor();

    await say('Add a step called print that prints the report');
    await task('print, reads write report').waitFor();
    await page.getByRole('button', { name: "Undo chat: add 'print'" }).click();
    await expect.poll(() => task(/^print/).count()).toBe(0);
    await page.getByRole('button', { name: "Redo chat: add 'print'" }).click();
    await say('Disconnect write report from print. Connect compare both to print. Rename print to poster');
    await task('poster, reads compare both').waitFor();
    await say('Connect poster to research tea');
    await talk()
      .getByText(/they would wait on each other/)
      .first()
      .waitFor();

    await task(/^poster/).click();
    await field('Expected output').fill('A poster');
    await enter(field('Tools'), 'calculator');
    await page.getByLabel('Name of the workflow').fill('Tea and coffee');
    await save();
    await page.waitForURL(/\/workflows\/workflow-/);
    const first = await saved();
    expect(first).toMatchObject({ version: 1, name: 'Tea and coffee' });
    expect(first.tasks.at(-1)).toMatchObject({
      name: 'poster',
      context: ['$compare both'],
      tools: ['calculator'],
      expectedOutput: 'A poster',
    });

    await page.getByRole('button', { name: 'Run', exact: true }).click();
    // Whichever it is by the time that a busy machine has drawn it.
    await task(/, Running/)
      .first()
      .waitFor();
    await task(/^poster, Completed/).waitFor();
    await task(/^write report, Completed/).waitFor();
    await page.getByRole('region', { name: 'Output' }).waitFor();
    await page.getByText(/of version 1 · 5 of 5 tasks/).waitFor();

    await page.reload();
    await task(/^poster, Completed/).waitFor();
    await page.getByRole('tab', { name: 'Chat' }).click();
    await talk().getByText('Build a workflow that researches tea').waitFor();
    await page.getByRole('button', { name: 'Stop watching' }).click();
    await task('poster, reads compare both').waitFor();
    expect((await saved()).version).toBe(1);
  });

  it('is drawn with the keyboard alone, and a mistake stands on the task that has it', async () => {
    /** Waits until a new task is there with the cursor in its name. */
    const isNaming = (): Promise<void> =>
      expect.poll(() => field('Name').evaluate((name) => name === document.activeElement)).toBe(true);
    await page.goto(`${server.url}/workflows/new`);
    await page.getByLabel('Name of the workflow').fill('By keys');
    await page.getByRole('button', { name: 'Add the first task' }).focus();
    await page.keyboard.press('Enter');
    await isNaming();
    await page.keyboard.type('one');
    await task('one, wrong: Say what to do').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.type('Do one thing');
    await task('one').focus();
    await page.keyboard.press('n');
    await isNaming();
    await page.keyboard.type('two');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Do another');
    await task('two, reads one').focus();
    await page.keyboard.press('n');
    await isNaming();
    await page.keyboard.type('one');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Finish');
    await task(/^one, reads two, wrong: Another task is called/).waitFor();
    await page.getByRole('button', { name: '2 mistakes' }).waitFor();
    await field('Name').fill('three');
    await task('three, reads two').waitFor();

    await task('one').focus();
    await page.keyboard.press('c');
    await page.getByText("Choose the task that reads 'one'").waitFor();
    await task('three, reads two').focus();
    await page.keyboard.press('Enter');
    await task('three, reads two, one').waitFor();
    const left = async (): Promise<number> => (await task('one').boundingBox())?.x ?? 0;
    await task('one').focus();
    const before = await left();
    await page.keyboard.press('ArrowRight');
    await expect.poll(left).toBeGreaterThan(before);
    await task('two, reads one').focus();
    await page.keyboard.press('Delete');
    await expect.poll(() => task(/^two/).count()).toBe(0);
    await expect.poll(() => task('one').evaluate((node) => node === document.activeElement)).toBe(true);
    await page.keyboard.press('Control+z');
    await task('two, reads one').waitFor();
    await page.keyboard.press('Control+s');
    await standing('Version 1');
    expect((await saved()).tasks.map(({ name, context }) => [name, context])).toEqual([
      ['one', undefined],
      ['two', ['$one']],
      ['three', ['$two', '$one']],
    ]);
  });

  it('is drawn with the pointer: tasks put down, moved, joined by an arrow, and parted again', async () => {
    await page.goto(`${server.url}/workflows/new`);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Kept as a draft').waitFor();
    await page.getByLabel('Name of the workflow').fill('By pointer');
    const box = (await page.getByRole('group', { name: 'Tasks and their links' }).boundingBox()) ?? { x: 0, y: 0 };
    for (const [x, y, name] of [
      [200, 200, 'left'],
      [560, 420, 'right'],
    ] as const) {
      await page.mouse.dblclick(box.x + x, box.y + y);
      await field('Name').fill(name);
      await field('Description').fill(`Stand ${name}`);
    }
    const middle = async (name: RegExp): Promise<{ x: number; y: number; width: number }> => {
      const { x, y, width, height } = (await task(name).boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
      return { x: x + width / 2, y: y + height / 2, width };
    };
    const [left, right] = [await middle(/^left/), await middle(/^right/)];
    await page.mouse.move(left.x + left.width / 2, left.y);
    await page.mouse.down();
    await page.mouse.move(right.x - 60, right.y, { steps: 8 });
    await page.mouse.move(right.x - right.width / 2, right.y, { steps: 4 });
    await page.mouse.up();
    await task('right, reads left').waitFor();

    // An arrow back would be a circle, which is refused with the reason.
    await page.mouse.move(right.x + right.width / 2, right.y);
    await page.mouse.down();
    await page.mouse.move(left.x - 60, left.y, { steps: 8 });
    await page.mouse.move(left.x - left.width / 2, left.y, { steps: 4 });
    await page.mouse.up();
    await page.getByText("'right' waits for 'left': they would wait on each other.").waitFor();

    await page.mouse.move(right.x, right.y);
    await page.mouse.down();
    await page.mouse.move(right.x + 60, right.y - 80, { steps: 6 });
    await page.mouse.up();
    await expect.poll(async () => Math.round((await middle(/^right/)).y - right.y)).toBeLessThan(-60);
    await page.getByRole('button', { name: "Undo move 'right'" }).click();
    await expect.poll(async () => Math.round((await middle(/^right/)).y - right.y)).toBe(0);
    await page.mouse.move((left.x + right.x) / 2, (left.y + right.y) / 2);
    await page.getByRole('button', { name: 'Disconnect right from left' }).click();
    await task('right').waitFor();
    await page.keyboard.press('Control+z');
    await task('right, reads left').waitFor();
    await save();
  });

  it('leads arrows around the tasks in their way, and puts a new task where it is seen', async () => {
    const at = (name: string, x: number, context: string[]) => ({
      name,
      description: name,
      context,
      position: { x, y: 0 },
    });
    const tasks = [at('near', 0, []), at('middle', 320, ['$near']), at('far', 640, ['$near'])];
    const { id } = (await server.call('POST', '/api/workflows', { name: 'In a row', tasks })) as Saved;
    await page.goto(`${server.url}/workflows/${id}`);
    await task('far, reads near').waitFor();
    const hidden = async (): Promise<number> => {
      const box = (await task(/^middle/).boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
      return page
        .locator('[aria-label="From near to far"] path.react-flow__edge-path')
        .evaluate((path, { x, y, width, height }) => {
          const line = path as SVGPathElement;
          const toScreen = line.getScreenCTM() ?? new DOMMatrix();
          const points = Array.from({ length: 101 }, (_, part) =>
            line.getPointAtLength((line.getTotalLength() * part) / 100).matrixTransform(toScreen),
          );
          return points.filter((at) => at.x > x && at.x < x + width && at.y > y && at.y < y + height).length;
        }, box);
    };
    expect(await hidden()).toBe(0);
    await page.getByRole('button', { name: 'More about this workflow' }).click();
    await page.getByRole('menuitem', { name: 'Tidy up the canvas' }).click();
    await expect.poll(hidden).toBe(0);

    await page.goto(`${server.url}/workflows/new`);
    await page.getByRole('button', { name: 'Add the first task' }).click();
    for (const name of ['one', 'two', 'three']) {
      await field('Name').fill(name);
      // The canvas may still move.
      const covered = async (): Promise<number> => {
        const box = await task(new RegExp(`^${name}`)).boundingBox();
        const panel = await page.getByRole('form').boundingBox();
        return (box?.x ?? 0) + (box?.width ?? 0) - (panel?.x ?? 0);
      };
      await expect.poll(covered).toBeLessThanOrEqual(0);
      await page.getByRole('button', { name: /^Add a task/ }).click();
    }
  });

  it('shows what the server refuses on its task', async () => {
    await page.goto(`${server.url}/workflows/new`);
    await page.getByLabel('Name of the workflow').fill('Wrong');
    await page.getByRole('button', { name: 'Add the first task' }).click();
    await field('Description').fill('Fly');
    await enter(field('Tools'), 'wings');
    await task(/wrong: Unknown tool 'wings'/).waitFor();
    await page.getByRole('button', { name: 'Save and run' }).click();
    await page
      .getByRole('form')
      .getByText(/Unknown tool 'wings'/)
      .waitFor();
    await page.getByRole('button', { name: 'Agent' }).click();
    await field('Goal').fill('Be up there');
    await task(/An agent needs a role/).waitFor();
  });

  it('tells in words who was faster, and keeps or takes either version', async () => {
    const { id } = (await server.call('POST', '/api/workflows', REPORT)) as Saved;
    const others = async (version: number, name: string): Promise<unknown> =>
      server.call(
        'PUT',
        `/api/workflows/${id}`,
        { ...REPORT, name, tasks: [...REPORT.tasks, { name, description: 'Print it', position: { x: 640, y: 0 } }] },
        { 'if-match': `"${version}"` },
      );
    await page.goto(`${server.url}/workflows/${id}`);
    await task('write, reads read').click();
    await field('Expected output').fill('Two pages');
    await others(1, 'print');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const conflict = page.getByRole('alert').filter({ hasText: 'while you were changing version 1' });
    await conflict.getByText(/adds 'print'/).waitFor();
    await conflict.getByRole('button', { name: 'Look at version 2' }).click();
    await task('print').waitFor();
    await page.getByRole('button', { name: 'Back to editing' }).click();
    await conflict.getByRole('button', { name: 'Keep mine, as version 3' }).click();
    await standing('Version 3');
    expect((await saved()).tasks.map(({ name }) => name)).toEqual(['read', 'write']);

    await page.getByRole('tab', { name: 'Task' }).click();
    await field('Expected output').fill('Three pages');
    await others(3, 'frame');
    await conflict
      .or(page.getByRole('alert').filter({ hasText: 'while you were changing version 3' }))
      .getByRole('button', { name: 'Use theirs' })
      .click();
    await task('frame').waitFor();
    await standing('Version 4');
    await page.getByRole('button', { name: 'Undo take version 4' }).click();
    await expect.poll(() => task('frame').count()).toBe(0);

    await page.getByRole('tab', { name: 'Versions' }).click();
    await page.getByRole('button', { name: /Version 2/ }).click();
    await page.getByText(/Restoring it would change:.*adds 'print'/).waitFor();
    await page.getByRole('button', { name: 'Restore it' }).click();
    await task('print').waitFor();
    await save();
    await standing('Version 5');
    expect((await saved()).tasks.map(({ name }) => name)).toEqual(['read', 'write', 'print']);
  });

  it('asks for the inputs of a run, and is deleted with the list knowing it', async () => {
    const { id } = (await server.call('POST', '/api/workflows', { ...REPORT, name: 'With inputs' })) as Saved;
    await page.goto(`${server.url}/workflows/${id}`);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await enter(page.getByRole('dialog').getByLabel('topic'), 'bees');
    await task(/^read, Completed/).waitFor();
    await page.getByText(/2 of 2 tasks/).waitFor();
    await page.getByRole('button', { name: 'More about this workflow' }).click();
    await page.getByRole('menuitem', { name: 'Delete the workflow' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.waitForURL(/\/workflows$/);
    await page.getByText('By keys').waitFor();
    await expect.poll(() => page.getByText('With inputs').count()).toBe(0);
    await page.goto(`${server.url}/workflows/${id}`);
    await page.getByText('There is no such workflow').waitFor();
  });
});

describe('the editor on a model that makes mistakes', () => {
  const GRAPH = {
    name: 'Honey',
    description: 'Counts honey',
    tasks: [
      { name: 'count', description: 'Count the jars', tools: ['calculator'] },
      { name: 'tell', description: 'Tell it', context: ['$count'] },
    ],
  };
  const BROKEN = { ...GRAPH, tasks: [{ name: 'count', description: 'Count', tools: ['abacus'] }] };
  const SCRIPT = {
    'Honey please':
      '[call build_workflow {"objective":"Count the honey"}] [say It is planned, and I leave the rest to you.]',
    'Count the honey': `[call finish_subtask ${JSON.stringify(BROKEN).replaceAll('}]', '} ]')}]`,
    'Slow honey': '[call ui_add_node {"name":"late","description":"Come late"}] [say Done.]',
  };
  let model: FakeModel;
  let server: Consort;

  beforeAll(async () => {
    model = await fakeModel(SCRIPT);
    server = await Consort.start(config(model.url));
  });

  afterAll(async () => {
    await server.stop();
    await model.close();
  });

  it('tells why a plan was sent back, and goes on where it was when the server is back', async () => {
    await page.goto(`${server.url}/workflows/new?panel=chat`);
    await say('Honey please');
    await talk()
      .getByRole('button', { name: /build_workflow/ })
      .click();
    await talk()
      .getByText(/Unknown tool 'abacus'/)
      .first()
      .waitFor();
    await page.getByText('An empty canvas').waitFor();

    await page.getByRole('textbox', { name: 'Message' }).fill('Slow honey');
    await server.down();
    await page.getByText(/Reconnecting/).waitFor();
    await page.keyboard.press('Enter');
    await server.up();
    await task(/^late/).waitFor();
    await talk().getByText('Done.').waitFor();
    await page.getByRole('button', { name: "Undo chat: add 'late'" }).waitFor();
  });
});
