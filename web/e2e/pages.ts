// Every page there is, on a server with something to show on each.

import { resolve } from 'node:path';
import type { FakeModel, Script } from './model';
import { config, Consort, kitchen, peers } from './server';

export interface Shown {
  name: string;
  path: string;
  /** Text that is there when the page is. */
  ready: string;
}

export interface Stage {
  server: Consort;
  pages: Shown[];
  stop: () => Promise<void>;
}

const MCP_SERVER = resolve(import.meta.dirname, 'ledger.mjs');

const ARTICLE = `# The waggle dance

A forager that has found flowers **dances** on the comb. Her sisters follow her with their antennae and learn three things.

| part of the dance | tells |
|---|---|
| angle | direction, against the sun |
| length | distance |
| vigour | how good it is |

A second of dancing is about a kilometre of flight.`;

/** A plan; a bracket and a brace in a row would end the mark it stands in. */
const HARVEST = JSON.stringify({
  name: 'Honey harvest',
  description: 'Decides which hives are harvested',
  tasks: [
    { name: 'weigh', description: 'Weigh the supers', tools: ['calculator'] },
    { name: 'moisture', description: 'Check the moisture of the honey' },
    { name: 'decide', description: 'Decide which hives are ready', context: ['$weigh', '$moisture'] },
  ],
}).replaceAll('}]', '} ]');

/** The model's answer to each task. */
export const SCRIPT: Script = {
  'how bees tell each other': '[say Foragers dance on the comb. The angle is the direction, the length the distance.]',
  'how long a flight takes':
    '[call calculator {"input":"2 km / (25 km/h) to minutes"}] [call calculator {"input":"2 km / (25 km"}] ' +
    '[say A flight of two kilometres takes about **five minutes**.]',
  'Write the article': `[say ${ARTICLE}]`,
  'List the facts':
    '[say {"title": "The waggle dance", "found": 1927, "by": {"name": "Karl von Frisch", "prize": 1973}, ' +
    '"tells": ["direction", "distance"]}]',
  'Fetch the sources': '[fail 99]',
  'Collect the papers': '[say Eleven papers since 1967.]',
  'Collect the measurements': '[fail 1] [call calculator {"input":"17 * 23"}] [say 391 hives, weighed every hour.]',
  'Read the papers': '[words 2000] [hold 60]',
  'Clean the measurements': '[words 2000] [hold 40]',
  'Draft a headline': '[say The queen lays two thousand eggs a day]',
  'compare the two hives':
    '[call run_subtask {"title":"Weigh hive one","instructions":"Look at the first hive"}] ' +
    '[call run_subtask {"title":"Weigh hive two","instructions":"Look at the second hive"}] ' +
    '[say Hive two is **4 kg heavier**, most of it brood. I would:\n\n' +
    '1. add a super to hive two this week,\n2. leave hive one alone.\n\n' +
    '```python\nweights = {"one": 42, "two": 46}\nprint(max(weights, key=weights.get))\n```]',
  'Look at the first hive': '[call calculator {"input":"6 * 7"}] [say 42 kg]',
  'Look at the second hive': '[call calculator {"input":"6 * 7 + 4"}] [say 46 kg]',
  'Order three jars': '[call order_honey {"jars": 3, "to": "The office, second floor"}] [say Ordered.]',
  'a workflow for the harvest':
    '[call build_workflow {"objective":"Plan the honey harvest"}] [say I planned three tasks. ' +
    '**Weigh the supers** and **check the moisture** run side by side; the last one decides.]',
  'Plan the honey harvest': `[call finish_subtask ${HARVEST}]`,
  'Read the forecast': '[say {"wind": 12, "storm": false}]',
  'Inspect the hive': '[words 160]',
  'Draft the plan': '[words 240]',
  'Judge the plan': '[say {"good": false, "why": "Nobody looks after the roof on Sunday."}]',
  'Send the plan': '[say Sent to eleven keepers.]',
  'Choose the cover':
    '[call human_input {"question":"Which colour should the cover have?","options":["Amber","Black"]}]',
};

/** A server with runs of every kind. */
export async function stage(model: FakeModel): Promise<Stage> {
  const budget = '[run.budget]\nmax_depth = 2\nmax_cost_usd = 5.0\nmax_total_tokens = 2000000\n';
  const tool = `
[tools.http.order_honey]
description = "Orders honey, by the jar"
url = "${model.url.replace('/v1', '/tool')}"
permission = "network"
effect = "once"

[tools.http.order_honey.input_schema]
type = "object"
properties = { jars = { type = "integer", description = "How many" }, to = { type = "string" } }
required = ["jars"]
`;
  const neighbours = await Promise.all([
    Consort.start(kitchen()),
    Consort.start(kitchen('bakery', 'harbour')),
    Consort.start(kitchen('cellar', 'harbour')),
  ]);
  const [near, far, short] = neighbours.map(({ url }) => url);
  const links = peers({ kitchen: near ?? '', bakery: far ?? '', cellar: short ?? '', laundry: 'http://127.0.0.1:1' });
  const mcp = `
[mcp.ledger]
command = "${process.execPath}"
args = ["${MCP_SERVER}"]

[mcp.archive]
command = "no-such-program"

[mcp.archive.tools.fetch_page]
effect = "read"

`;
  const hooks = `
[[schedule]]
name = "weekly-hive-report"
cron = "0 8 * * MON"
timezone = "Europe/Berlin"
workflow = "Weekly hive report"
inputs = { topic = "How the colonies came through the winter", audience = "beginners and those who kept bees before" }

[[webhook]]
name = "ops"
url = "${model.url.replace('/v1', '/tool')}"
secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

[[webhook]]
name = "pager"
url = "http://127.0.0.1:9/a/rather/long/address/of/somebody/who/is/called/when/runs/fail"
secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
events = ["run.completed", "run.failed"]
tags = { team = "desk" }

`;
  const server = await Consort.start(config(model.url, budget + tool + mcp + hooks + links));
  const finished = await server.finish(article());
  const other = await server.finish({ inputs: { audience: 'beginners' }, tags: { team: 'desk' } });
  const failed = await server.finish({
    tags: { team: 'desk' },
    tasks: [
      { name: 'fetch sources', description: 'Fetch the sources' },
      { name: 'summarise', description: 'Summarise them' },
    ],
  });
  const branched = await server.finish(season());
  const live = await server.submit(investigation());
  await server.submit({
    tags: { team: 'desk' },
    tasks: [{ name: 'headline', description: 'Draft a headline', review: 'required' }],
  });
  const question = await server.submit({
    tags: { team: 'art' },
    tasks: [{ name: 'cover', description: 'Choose the cover with the editor', tools: ['human_input'] }],
  });
  const reviewed = await server.submit({
    tags: { team: 'desk' },
    tasks: [
      { name: 'article', description: 'Write the article about the dance', review: 'required' },
      { name: 'publish', description: 'Publish it', context: ['$article'] },
    ],
  });
  await waitFor(async () => ((await server.call('GET', '/api/reviews')) as { total: number }).total === 3);
  const talk = await thread(server, 'Hives', 'Please compare the two hives.');
  await waitFor(async () => !((await server.call('GET', `/api/threads/${talk}`)) as { running: boolean }).running);
  const asking = await thread(server, 'Honey', 'Order three jars for the office.');
  await waitFor(async () => ((await server.call('GET', '/api/approvals')) as { total: number }).total === 1);
  await seen(server, 'peers', 'cellar');
  await neighbours[2]?.down();
  await seen(server, 'gone', 'cellar');
  const planned = await thread(server, 'Harvest', 'Build a workflow for the harvest, please.', {
    chat_context: { kind: 'editor' },
  });
  const { workflow, watched } = await drawings(server);
  const often = { name: 'weigh-hives', every: '6h', inputs: { audience: 'the scales' }, overlap: 'queue' };
  await server.call('POST', '/api/schedules', often);
  await server.call('POST', '/api/schedules/weigh-hives/pause');
  await server.call('POST', '/api/schedules/weigh-hives/trigger');
  await server.call('POST', '/api/collections', { name: 'apiary' });
  for (const [title, content] of [
    ['Winter', 'Feed until October, then leave the hives alone.'],
    ['Swarming', 'A colony that is short of room swarms in May.'],
  ])
    await server.call('POST', '/api/collections/apiary/documents', { title, content });
  const run = (id: string, tab: string): string => `/runs/${id}/${tab}`;
  const stop = async (): Promise<void> => {
    await Promise.all([server, ...neighbours].map((each) => each.stop()));
  };
  return {
    server,
    stop,
    pages: [
      { name: 'overview', path: '/', ready: 'Usage over time' },
      { name: 'runs', path: '/runs', ready: 'Started' },
      { name: 'runs-none', path: '/runs?status=CANCELLED', ready: 'No run matches these filters' },
      { name: 'new-run', path: '/runs/new', ready: 'Tags and options' },
      { name: 'run-graph', path: run(live, 'graph'), ready: 'write the report' },
      { name: 'run-task', path: `${run(finished, 'graph')}?task=3`, ready: 'Reads' },
      { name: 'run-timeline', path: run(live, 'timeline'), ready: 'failed try' },
      { name: 'run-conversation', path: `${run(finished, 'conversation')}?turn=2`, ready: 'Round 2' },
      { name: 'run-structured', path: `${run(finished, 'conversation')}?turn=4`, ready: 'Karl von Frisch' },
      { name: 'run-outputs', path: run(finished, 'outputs'), ready: 'Rendered' },
      { name: 'run-events', path: `${run(finished, 'events')}?event=3`, ready: 'task_started' },
      { name: 'run-branches-graph', path: run(branched, 'graph'), ready: 'send' },
      { name: 'run-branches-task', path: `${run(branched, 'graph')}?task=5`, ready: 'Rounds' },
      { name: 'run-branches-timeline', path: run(branched, 'timeline'), ready: 'send' },
      { name: 'run-replay', path: `${run(finished, 'graph')}?at=6`, ready: 'Event 6 of' },
      { name: 'run-failed', path: run(failed, 'graph'), ready: 'summarise' },
      { name: 'run-review', path: `${run(reviewed, 'graph')}?review=${reviewed}-review-0`, ready: 'Approve' },
      { name: 'compare', path: `/compare?a=${finished}&b=${other}`, ready: 'Difference' },
      { name: 'reviews', path: `/reviews/${reviewed}-review-0`, ready: 'Approve' },
      { name: 'question', path: `/reviews/${question}-review-0`, ready: 'Or say something else' },
      { name: 'chat', path: `/chat/${talk}`, ready: '2 subtasks' },
      { name: 'chat-approval', path: `/chat/${asking}`, ready: 'Allow once' },
      { name: 'chat-memory', path: `/chat/${talk}?memory`, ready: 'Remember facts about me' },
      { name: 'chat-new', path: '/chat/new', ready: 'What would you like to do?' },
      { name: 'network', path: '/network', ready: 'kitchen.check-inventory' },
      { name: 'network-ensemble', path: '/network?ensemble=peer+kitchen', ready: 'Shared' },
      { name: 'workflows', path: '/workflows', ready: 'Weekly hive report' },
      { name: 'workflow', path: `/workflows/${workflow}?task=5`, ready: 'Description' },
      {
        name: 'workflow-chat',
        path: `/workflows/${workflow}?panel=chat&chat=${planned}`,
        ready: 'Put it on the canvas',
      },
      { name: 'workflow-run', path: `/workflows/${workflow}?run=${watched}&task=2`, ready: 'Stop watching' },
      { name: 'workflow-version', path: `/workflows/${workflow}?panel=versions&version=1`, ready: 'Restore it' },
      { name: 'workflow-new', path: '/workflows/new', ready: 'An empty canvas' },
      { name: 'schedules', path: '/schedules', ready: 'weigh-hives' },
      { name: 'webhooks', path: '/webhooks?webhook=pager', ready: 'Deliveries to pager' },
      { name: 'documents', path: '/documents', ready: 'apiary' },
      { name: 'documents-collection', path: '/documents?collection=apiary', ready: 'Winter' },
      { name: 'documents-document', path: '/documents?collection=apiary&document=1', ready: 'Feed until October' },
      { name: 'memory', path: '/memory', ready: 'Nothing is remembered yet' },
      { name: 'files', path: '/files', ready: 'Workspace' },
      { name: 'cluster', path: '/cluster', ready: 'This server is not part of a cluster' },
      { name: 'tools', path: '/tools', ready: 'calculator' },
      { name: 'models', path: '/models', ready: 'swift' },
      { name: 'api', path: '/reference', ready: 'List runs, the newest first' },
      { name: 'not-found', path: '/nowhere', ready: 'There is no page here' },
    ],
  };
}

function article(): object {
  return {
    tags: { team: 'desk', issue: '12' },
    tasks: [
      { name: 'research', description: 'Research how bees tell each other about flowers' },
      { name: 'numbers', description: 'Work out how long a flight takes', tools: ['calculator'] },
      { name: 'article', description: 'Write the article', context: ['$research', '$numbers'] },
      {
        name: 'facts',
        description: 'List the facts',
        context: ['$article'],
        outputSchema: { type: 'object', required: ['title'] },
      },
    ],
  };
}

/** A branch, items, and a loop of five rounds. */
function season(): object {
  const verdict = { type: 'object', required: ['good'] };
  return {
    tags: { team: 'apiary' },
    inputs: { hives: ['north wall', 'orchard', 'roof'] },
    tasks: [
      { name: 'forecast', description: 'Read the forecast', outputSchema: { type: 'object', required: ['storm'] } },
      { name: 'warn', description: 'Warn the keepers', when: 'outputs.forecast.storm' },
      { name: 'inspect', description: 'Inspect the hive {item}', forEach: 'inputs.hives', context: ['$forecast'] },
      { name: 'draft', description: 'Draft the plan', context: ['$inspect', '$judge'] },
      { name: 'judge', description: 'Judge the plan', context: ['$draft'], outputSchema: verdict },
      { name: 'send', description: 'Send the plan', context: ['$warn', '$draft'] },
    ],
    groups: [
      {
        name: 'plan',
        tasks: ['draft', 'judge'],
        repeatUntil: 'outputs.judge.good',
        maxRounds: 5,
        onMaxRounds: 'accept',
      },
    ],
  };
}

/** Slow enough to be seen at work. */
function investigation(): object {
  return {
    tags: { team: 'lab', priority: 'high' },
    tasks: [
      { name: 'collect papers', description: 'Collect the papers' },
      { name: 'collect data', description: 'Collect the measurements', tools: ['calculator'] },
      { name: 'read papers', description: 'Read the papers', context: ['$collect papers'] },
      { name: 'clean data', description: 'Clean the measurements', context: ['$collect data'] },
      { name: 'compare', description: 'Compare them', context: ['$read papers', '$clean data'] },
      { name: 'check the sources', description: 'Check the sources', context: ['$read papers'] },
      { name: 'write the report', description: 'Write the report', context: ['$compare'] },
    ],
  };
}

async function thread(server: Consort, title: string, content: string, more: object = {}): Promise<string> {
  const { id } = (await server.call('POST', '/api/threads', { title })) as { id: string };
  await server.call('POST', `/api/threads/${id}/messages`, { content, ...more });
  return id;
}

/** Saved workflows, one of them in its second version and at work. */
async function drawings(server: Consort): Promise<{ workflow: string; watched: string }> {
  const drawn = {
    name: 'Weekly hive report',
    description: 'Papers and measurements of the week, compared and written up',
    ...(investigation() as { tasks: object[] }),
  };
  await server.call('POST', '/api/workflows', {
    name: 'Article about bees',
    tasks: [
      { name: 'research', description: 'Research {topic}' },
      { name: 'write', description: 'Write about {topic}', context: ['$research'] },
    ],
  });
  const { id } = (await server.call('POST', '/api/workflows', { ...drawn, tasks: drawn.tasks.slice(0, 4) })) as {
    id: string;
  };
  await server.call('PUT', `/api/workflows/${id}`, drawn, { 'if-match': '"1"' });
  const { runId } = (await server.call('POST', `/api/workflows/${id}/runs`, {})) as { runId: string };
  return { workflow: id, watched: runId };
}

/** Returns when the network knows the ensemble as linked, or as gone. */
function seen(server: Consort, list: 'peers' | 'gone', name: string): Promise<void> {
  return waitFor(async () => {
    const network = (await server.call('GET', '/api/network')) as Record<
      'peers' | 'gone',
      { name: string; connected?: boolean }[]
    >;
    return network[list].some((each) => each.name === name && each.connected !== false);
  });
}

async function waitFor(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1_200; tries += 1) {
    if (await holds()) return;
    await new Promise((next) => setTimeout(next, 50));
  }
  throw new Error('it did not come to that');
}
