// Pages with more than they were drawn for: long titles, words without an end, many of everything; and pages with nothing.

import type { FakeModel, Script } from './model';
import { config, Consort } from './server';
import type { Shown } from './pages';

export interface Extremes {
  /** Pages with their whole addresses. */
  pages: Shown[];
  stop: () => Promise<void>;
}

const WORD = 'Bienenwachskerzenzieherwerkstattbesichtigungsterminvereinbarung';
const TITLE = `How the colonies of the ${WORD} came through a winter that was longer and wetter than any since 1963`;
const LINES = Array.from({ length: 60 }, (_, at) => `Line ${at + 1}: hive ${at + 1} weighed ${40 + (at % 9)} kg`).join(
  '\n',
);
const TAGS = Object.fromEntries(
  ['season', 'keeper', 'region', 'weather', 'queen', 'frames', 'super', 'strain', 'orchard', 'permit', 'scale'].map(
    (name, at) => [name, at === 3 ? WORD : `${name}-${at}`],
  ),
);
const TASKS = [
  { name: `weigh-${WORD}`, description: `Weigh every hive of ${WORD} and list all of the weights, one in a line` },
  { name: 'fail at it', description: `Fetch the sources of ${WORD}`, context: [`$weigh-${WORD}`] },
];

export const EXTREME_SCRIPT: Script = {
  'Weigh every hive': `[say ${LINES}\n\n${WORD}]`,
  'Fetch the sources': '[fail 99]',
  'Draft the longest headline': `[say ${TITLE}\n\n${LINES}]`,
  'Order the jars': `[call order_honey {"jars": 3, "to": "${WORD}, ${TITLE}"}]`,
  'Tell me everything': `[say # ${TITLE}\n\n${LINES}\n\n| ${WORD} | b |\n|---|---|\n| 1 | ${WORD} |\n\n\`\`\`\n${WORD}${WORD}\n\`\`\`]`,
};

/** A server with too much, and one with nothing. */
export async function extremes(model: FakeModel): Promise<Extremes> {
  const tool = `
[tools.http.order_honey]
description = "Orders honey, by the jar, for ${WORD}"
url = "${model.url.replace('/v1', '/tool')}"
permission = "network"
effect = "once"

[tools.http.order_honey.input_schema]
type = "object"
properties = { jars = { type = "integer" }, to = { type = "string" } }
required = ["jars"]

[[ensemble.task]]
name = "remember"
description = "Weigh every hive"
memory = ["hives", "${WORD}"]
`;
  const [full, empty] = await Promise.all([Consort.start(config(model.url, tool)), Consort.start(config(model.url))]);
  const runs = await fill(full);
  const talk = await threads(full);
  await knowledge(full);
  const at = ({ url }: Consort, name: string, path: string, ready: string): Shown => ({
    name,
    path: url + path,
    ready,
  });
  const stop = async (): Promise<void> => {
    await Promise.all([full.stop(), empty.stop()]);
  };
  const nowhere = '/runs/run-00000000000000000000000000000000';
  return {
    stop,
    pages: [
      at(full, 'long-overview', '/', 'Usage over time'),
      at(full, 'long-runs', '/runs', 'Started'),
      at(full, 'long-run', `/runs/${runs.failed}/graph`, 'fail at it'),
      at(full, 'long-run-task', `/runs/${runs.failed}/graph?task=1`, 'Conversation'),
      at(full, 'long-run-timeline', `/runs/${runs.failed}/timeline`, 'fail at it'),
      at(full, 'long-run-conversation', `/runs/${runs.failed}/conversation`, 'Line 60'),
      at(full, 'long-run-outputs', `/runs/${runs.failed}/outputs`, 'Line 60'),
      at(full, 'long-run-events', `/runs/${runs.failed}/events?event=2`, 'task_started'),
      at(full, 'long-compare', `/compare?a=${runs.failed}&b=${runs.other}`, 'Difference'),
      at(full, 'long-review', `/reviews/${runs.reviewed}-review-0`, 'Approve'),
      at(full, 'long-chat', `/chat/${talk.long}`, 'Line 60'),
      at(full, 'long-approval', `/chat/${talk.asking}`, 'Allow once'),
      at(full, 'long-workflow', `/workflows/${runs.workflow}?task=1`, 'Description'),
      at(full, 'long-workflows', '/workflows', '1963'),
      at(full, 'long-schedules', '/schedules', 'every-hive'),
      at(full, 'long-documents', '/documents?collection=apiary', '1963'),
      at(full, 'long-document', '/documents?collection=apiary&document=1', 'Line 60'),
      at(full, 'long-memory', '/memory', 'hives'),
      at(full, 'long-files', '/files', 'weights.txt'),
      at(full, 'long-tools', '/tools', 'order_honey'),
      at(full, 'no-such-run', `${nowhere}/graph`, 'There is no such run'),
      at(full, 'no-such-thread', '/chat/thread-00000000000000000000000000000000', 'no such chat'),
      at(full, 'no-such-workflow', '/workflows/workflow-00000000000000000000000000000000', 'workflow'),
      at(full, 'no-such-review', '/reviews/run-0-review-0', 'review'),
      at(empty, 'empty-overview', '/', 'Overview'),
      at(empty, 'empty-runs', '/runs', 'No runs yet'),
      at(empty, 'empty-peer-work', '/runs?kind=peer', 'No work for other ensembles yet'),
      at(empty, 'empty-compare', '/compare', 'Choose two runs'),
      at(empty, 'empty-reviews', '/reviews', 'Reviews'),
      at(empty, 'empty-chat', '/chat', 'Chat'),
      at(empty, 'empty-workflows', '/workflows', 'Workflows'),
      at(empty, 'empty-schedules', '/schedules', 'Schedules'),
      at(empty, 'empty-webhooks', '/webhooks', 'Webhooks'),
      at(empty, 'empty-documents', '/documents', 'No documents yet'),
      at(empty, 'empty-files', '/files', 'Workspace'),
      at(empty, 'empty-network', '/network', 'No other ensembles yet'),
    ],
  };
}

async function fill(server: Consort): Promise<Record<'failed' | 'other' | 'reviewed' | 'workflow', string>> {
  const inputs = { topic: TITLE, audience: WORD };
  const failed = await server.finish({ inputs, tags: TAGS, tasks: TASKS });
  const other = await server.finish({ inputs: { topic: WORD }, tags: TAGS, tasks: TASKS.slice(0, 1) });
  for (let count = 0; count < 8; count += 1) await server.finish({ inputs, tags: TAGS });
  const reviewed = await server.submit({
    tags: TAGS,
    tasks: [{ name: `headline-${WORD}`, description: 'Draft the longest headline', review: 'required' }],
  });
  const { id } = (await server.call('POST', '/api/workflows', {
    name: TITLE,
    description: `${TITLE}. ${TITLE}.`,
    tasks: TASKS,
  })) as { id: string };
  await server.call('POST', '/api/schedules', { name: 'every-hive', every: '6h', inputs });
  return { failed, other, reviewed, workflow: id };
}

/** Thirty conversations, of which the last but one is long and the last waits for a permission. */
async function threads(server: Consort): Promise<{ long: string; asking: string }> {
  const thread = async (title: string, content?: string): Promise<string> => {
    const { id } = (await server.call('POST', '/api/threads', { title })) as { id: string };
    if (content !== undefined) await server.call('POST', `/api/threads/${id}/messages`, { content });
    return id;
  };
  for (let count = 0; count < 28; count += 1) await thread(count % 3 === 0 ? TITLE : `Conversation ${count}`);
  const long = await thread(TITLE, `Tell me everything about ${WORD}`);
  const asking = await thread(WORD, 'Order the jars');
  return { long, asking };
}

async function knowledge(server: Consort): Promise<void> {
  await server.call('POST', '/api/collections', { name: 'apiary' });
  for (let count = 0; count < 12; count += 1)
    await server.call('POST', '/api/collections/apiary/documents', { title: TITLE, content: `${LINES}\n${WORD}` });
  const write = (name: string): string =>
    `[call write_file ${JSON.stringify({ path: name, content: LINES })}] [say Written.] Write ${name}`;
  const names = ['weights.txt', `${WORD}.md`, `reports/${WORD}/2026/summary.md`];
  await server.finish({ tasks: names.map((name) => ({ description: write(name), tools: ['write_file'] })) });
}
