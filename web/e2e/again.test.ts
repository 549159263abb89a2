import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { duration } from '../src/ui/format';
import { barriers } from './axe';
import { open } from './browser';
import { browser, model, server, withServer } from './setting';

withServer();
describe('a run made of another', () => {
  interface Detail {
    startedAt: string;
    completedAt: string;
    metrics: { inputTokens: number; outputTokens: number; llmCalls: number };
    tasks: { name: string; inherited?: boolean; durationMs?: number }[];
  }

  it('has its own clock and counts, on its page as in the list', async () => {
    const slow = await server.finish({
      tasks: [
        { name: 'slow', description: '[words 40] Slowly' },
        { name: 'flaky', description: '[fail 4] Try once' },
      ],
    });
    const { runId } = (await server.call('POST', `/api/runs/${slow}/retry`, {}, { prefer: 'wait=60' })) as {
      runId: string;
    };
    const [first, detail] = await Promise.all(
      [slow, runId].map((run) => server.call('GET', `/api/runs/${run}`) as Promise<Detail>),
    );
    if (!first || !detail) throw new Error('both runs are there');
    expect(detail.tasks.map(({ name, inherited }) => [name, inherited === true])).toEqual([
      ['slow', true],
      ['flaky', false],
    ]);
    const { page, context, complaints } = await open(browser);
    await page.goto(`${server.url}/runs/${runId}/timeline`);
    const stat = (name: string): Promise<string> =>
      page
        .locator('dl > div')
        .filter({ has: page.locator('dt', { hasText: new RegExp(`^${name}$`) }) })
        .locator('dd')
        .innerText();
    await page.getByText('All 2 tasks are done').waitFor();
    const ms = Date.parse(detail.completedAt) - Date.parse(detail.startedAt);
    expect(Date.parse(detail.startedAt)).toBeGreaterThanOrEqual(Date.parse(first.completedAt));
    expect(await stat('Duration')).toBe(duration(ms));
    expect(await stat('Tokens')).toMatch(new RegExp(`^${detail.metrics.inputTokens + detail.metrics.outputTokens}\\b`));
    expect(await stat('Model calls')).toBe(String(detail.metrics.llmCalls));
    const row = (name: string): Promise<string> =>
      page
        .getByRole('region', { name: 'Timeline' })
        .locator('div', { has: page.getByRole('link', { name, exact: true }) })
        .last()
        .locator('small')
        .innerText();
    expect(await row('slow')).toBe('inherited');
    expect(await row('flaky')).toBe(duration(detail.tasks[1]?.durationMs ?? 0));
    await page.getByRole('link', { name: 'Conversation' }).click();
    await page.getByRole('link', { name: /slow/ }).click();
    await page.getByText('word40').waitFor();
    await page.getByRole('link', { name: 'Events' }).click();
    await page.getByRole('link', { name: /^0 inherited run_accepted/ }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });
});

describe('a run that is over', () => {
  it('is retried, forked from an event and downloaded as a trace', async () => {
    // Four refusals use up the tries of one run; the retry is answered.
    const run = await server.finish({
      tasks: [
        { name: 'good', description: 'Good' },
        { name: 'flaky', description: '[fail 4] Try' },
      ],
    });
    const { page, context, complaints } = await open(browser);
    await page.goto(`${server.url}/runs/${run}/graph`);
    await page.getByText('Failed', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Retry', exact: true }).click();
    await page.getByRole('link', { name: `retry of ${run.slice(-6)}` }).waitFor();
    await page.getByText('Completed', { exact: true }).first().waitFor();

    await page.getByRole('button', { name: 'More about this run' }).click();
    const saved = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'Download the trace' }).click();
    const trace = JSON.parse(readFileSync(await (await saved).path(), 'utf8')) as { taskTraces: unknown[] };
    expect(trace.taskTraces.length).toBe(2);

    await page.goto(`${server.url}/runs/${run}/events?event=3`);
    await page.getByRole('button', { name: 'Fork before this event' }).click();
    await page.getByRole('dialog', { name: 'Fork this run' }).waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.getByRole('combobox', { name: 'Model' }).click();
    await page.getByRole('option', { name: 'deep' }).click();
    await page.getByRole('button', { name: 'Fork', exact: true }).click();
    await page.getByRole('link', { name: new RegExp(`forked from ${run.slice(-6)}`) }).waitFor();
    await page.getByText('Completed', { exact: true }).first().waitFor();
    expect(model.asked.at(-1)?.model).toBe('deep');
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('is forked with an edited output, which the next task reads and the page tells of', async () => {
    const run = await server.finish({
      tasks: [
        { name: 'plan', description: '[say Sail to Rome] Plan' },
        { name: 'letter', description: 'Write the letter', context: ['$plan'] },
      ],
    });
    const { page, context, complaints } = await open(browser);
    await page.goto(`${server.url}/runs/${run}/outputs`);
    await page
      .locator('article', { has: page.getByRole('link', { name: 'plan', exact: true }) })
      .getByRole('button', { name: 'Fork with another output' })
      .click();
    const dialog = page.getByRole('dialog', { name: 'Fork this run' });
    const output = dialog.getByRole('textbox', { name: 'Edited output of plan' });
    await output.waitFor();
    expect(await output.inputValue()).toBe('Sail to Rome');
    await output.fill('Walk to Rome');
    await dialog.getByText('before the first task that reads the edited output').waitFor();
    await dialog.getByRole('region', { name: 'Your changes' }).locator('mark', { hasText: 'Walk' }).waitFor();
    expect(await barriers(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Fork', exact: true }).click();
    await page.getByRole('link', { name: new RegExp(`forked from ${run.slice(-6)}`) }).waitFor();
    await page.getByText('output of plan edited by local').first().waitFor();
    await page.getByText('Completed', { exact: true }).first().waitFor();
    const asked = model.asked
      .at(-1)
      ?.messages.map(({ content }) => content)
      .join('\n');
    expect(asked).toContain('---\nWalk to Rome\n---');
    expect(asked).not.toContain('---\nSail to Rome');
    await page.getByRole('link', { name: 'Outputs' }).click();
    const edited = page.locator('article', { has: page.getByRole('link', { name: 'plan', exact: true }) });
    await edited.getByText('edited by local').waitFor();
    expect(await edited.innerText()).toContain('Walk to Rome');
    await page.getByRole('link', { name: 'Conversation' }).click();
    await page.getByRole('link', { name: /plan/ }).click();
    await page.getByText('local edited the output when this run was made').waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });
});
