// Conversations on the real server: each word once over kills and cuts, calls allowed and denied by callbacks.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Consort, TurnFailed } from '../src/index.js';
import type { Frame } from '../src/index.js';
import { FakeModel, KEY, Proxy, Served } from './harness.js';

const patienceMs = 60_000;
const RING = '[call ring_bell {"input": "twice"}]';

let model: FakeModel;
let server: Served;
let consort: Consort;

before(async () => {
  model = await FakeModel.start();
  server = await Served.start(model.config);
  consort = new Consort(server.url, { key: KEY, patienceMs });
});

after(async () => {
  await server.close();
  model.close();
});

/** The words of each model call, joined as they came; each must begin where the last ended. */
function wordsOf(frames: Frame[]): string[] {
  const said = new Map<string, string>();
  for (const frame of frames) {
    if (frame.type !== 'chunk' || !('call_id' in frame) || frame.thinking) continue;
    const before = said.get(frame.call_id) ?? '';
    assert.equal(frame.offset, Buffer.byteLength(before));
    said.set(frame.call_id, before + frame.content);
  }
  return [...said.values()];
}

/** Words have the number of the frame they follow. */
function assertDense(frames: Frame[]): void {
  const numbers = frames.flatMap((frame) => ('chat_seq' in frame && 'at' in frame ? [frame.chat_seq] : []));
  assert.deepEqual(
    numbers,
    numbers.map((_, index) => (numbers[0] ?? 0) + index),
  );
}

test('a conversation goes on', async () => {
  const thread = await consort.threads.create('About bees');
  assert.equal(await (await thread.say('[say Hello there]')).answer(), 'Hello there');
  assert.equal(await (await thread.say('[say And again]')).answer(), 'And again');
  const said = (await thread.messages()).map(({ role, content }) => `${role}: ${content}`);
  assert.deepEqual([said[1], said[3]], ['assistant: Hello there', 'assistant: And again']);
  const { threads } = await consort.threads.list();
  assert.ok(threads.some(({ id }) => id === thread.id));
  await thread.delete();
});

test('cut connections repeat no word and lose none', async () => {
  const proxy = await Proxy.start(server.port);
  const thread = await new Consort(proxy.url, { key: KEY, patienceMs }).threads.create();
  const turn = await thread.say('[words 60] [pace 20]');
  const frames: Frame[] = [];
  for await (const frame of turn.stream()) {
    frames.push(frame);
    if (frame.type === 'chunk' && frames.length % 5 === 0) proxy.cut();
  }
  proxy.close();
  assertDense(frames);
  assert.deepEqual(wordsOf(frames), [Array.from({ length: 60 }, (_, index) => `wörd${index + 1} `).join('')]);
});

test('a killed server answers all the same', async () => {
  const turn = await (await consort.threads.create()).say('[words 30] [hold kill]');
  const frames: Frame[] = [];
  let isKilled = false;
  for await (const frame of turn.stream()) {
    frames.push(frame);
    if (frame.type !== 'chunk' || isKilled) continue;
    isKilled = true;
    await server.down();
    await server.up();
    await model.goOn('kill');
  }
  assertDense(frames);
  assert.equal(frames.filter(({ type }) => type === 'turn_adopted').length, 2, 'it was taken up again');
  assert.equal(wordsOf(frames).at(-1)?.trim(), (await turn.answer()).trim());
});

test('a callback allows and denies', async () => {
  const thread = await consort.threads.create();
  const asked: unknown[] = [];
  const first = await thread.say(RING);
  await first.answer({
    onApproval: ({ tool_name, args }) => {
      asked.push([tool_name, args]);
      return 'allow';
    },
  });
  await (await thread.say(RING)).answer({ onApproval: () => Promise.resolve('deny' as const) });
  assert.deepEqual(asked, [['ring_bell', { input: 'twice' }]]);
  const results = (await thread.messages()).filter(({ role }) => role === 'tool').map(({ content }) => content);
  assert.deepEqual(
    results.map((result) => result.includes('the bell rang')),
    [true, false],
  );
});

test('a call that waits is decided by whoever comes later', async () => {
  const thread = await consort.threads.create();
  const turn = await thread.say(RING);
  for await (const { type } of turn.stream()) if (type === 'tool_approval_request') break;
  assert.equal((await thread.approvals()).length, 1);
  await turn.answer({ onApproval: () => 'allow_for_chat' });
  assert.deepEqual(await thread.approvals(), []);
});

test('a stopped turn says so', async () => {
  const thread = await consort.threads.create();
  const turn = await thread.say('[words 400] [pace 50]');
  for await (const { type } of turn.stream()) {
    if (type !== 'chunk') continue;
    await thread.stop();
    break;
  }
  await assert.rejects(
    turn.answer(),
    (error) => error instanceof TurnFailed && error.status === 'CANCELLED' && error.partial.includes('wörd1'),
  );
});

test('a message that waits has its own answer', async () => {
  const thread = await consort.threads.create();
  const first = await thread.say('[words 30] [hold queue]');
  const second = await thread.say('[say the second]', { if_busy: 'queue' });
  await model.goOn('queue');
  assert.equal(second.queuePosition, 0);
  assert.equal(await second.answer(), 'the second');
  assert.match(await first.answer(), /^wörd1 /);
});
