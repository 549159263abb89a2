// Runs on the real server: followed over kills and cuts, each frame once; decided by callbacks; steered.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { approve, Conflict, Consort, edit, exitEarly, reject, RunFailed, Unreachable } from '../src/index.js';
import type { Frame, RunRequest } from '../src/index.js';
import { FakeModel, KEY, Proxy, Served } from './harness.js';

/** Longer than a debug build takes to start again on a busy machine. */
const patienceMs = 60_000;

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

/** A request of tasks that a person must look at. */
const reviewed = (...names: string[]): RunRequest => ({
  tasks: names.map((name) => ({ name, description: `[say ${name} done]`, review: 'required' })),
});

const say = (words: string): RunRequest => ({ tasks: [{ description: `[say ${words}]` }] });

const stored = (frames: Frame[]): Frame[] => frames.filter((frame) => 'seq' in frame);

function assertDense(frames: Frame[]): void {
  const seqs = stored(frames).map((frame) => 'seq' in frame && frame.seq);
  assert.deepEqual(
    seqs,
    seqs.map((_, index) => index),
  );
}

async function collected(stream: AsyncIterable<Frame>): Promise<Frame[]> {
  const frames: Frame[] = [];
  for await (const frame of stream) frames.push(frame);
  return frames;
}

test('a run is streamed from its first frame to its result', async () => {
  const run = await consort.runs.create({ inputs: { topic: 'wasps' } });
  const frames = await collected(run.stream());
  assertDense(frames);
  assert.deepEqual([frames[0]?.type, frames.at(-1)?.type], ['run_accepted', 'run_result']);
  assert.match(String(await run.answer()), /wörd20/);
  const later = await collected(run.stream({ since: stored(frames).length - 3 }));
  assert.deepEqual(later, frames.slice(-3), 'the last two events and the result');
});

test('only the wanted types come, and the result', async () => {
  const run = await consort.runs.create(say('hello'));
  const frames = await collected(run.stream({ only: ['task_completed'] }));
  assert.deepEqual(
    frames.map(({ type }) => type),
    ['task_completed', 'run_result'],
  );
});

test('a killed server costs nothing but the wait', async () => {
  const run = await consort.runs.create();
  const frames: Frame[] = [];
  let killed = 0;
  for await (const frame of run.stream()) {
    frames.push(frame);
    if (frame.type !== 'token' || frames.at(-2)?.type !== 'llm_iteration_started' || killed === 2) continue;
    killed += 1;
    await server.down();
    await server.up();
  }
  assertDense(frames);
  const adoptions = frames.filter(({ type }) => type === 'run_adopted').length;
  assert.ok(killed > 0);
  assert.equal(adoptions, 1 + killed, 'it was begun, and taken up again after each kill');
  assert.equal((await run.detail()).status, 'COMPLETED');
  assert.deepEqual((await collected(run.stream())).slice(0, -1), stored(frames), 'as it is stored');
});

test('cut connections repeat nothing', async () => {
  const proxy = await Proxy.start(server.port);
  const run = await new Consort(proxy.url, { key: KEY, patienceMs }).runs.create();
  const frames: Frame[] = [];
  const cuts = new Set<string>(['task_started', 'token', 'task_completed']);
  for await (const frame of new Consort(proxy.url, { key: KEY, patienceMs }).runs.open(run.id).stream()) {
    frames.push(frame);
    if (cuts.has(frame.type)) proxy.cut();
  }
  proxy.close();
  assertDense(frames);
  assert.equal(frames.at(-1)?.type, 'run_result');
});

test('a request whose answer is lost is done once', async () => {
  const proxy = await Proxy.start(server.port);
  proxy.deafToAnswers = 2;
  const run = await new Consort(proxy.url, { key: KEY }).runs.create({ ...say('hi'), tags: { case: 'lost' } });
  proxy.close();
  const { runs } = await consort.runs.list({ tag: 'case:lost' });
  assert.deepEqual(
    runs.map(({ runId }) => runId),
    [run.id],
  );
});

test('each decision of a callback is obeyed', async () => {
  const decisions = [reject('Again, please'), approve(), edit('Edited by hand'), exitEarly()];
  const asked: string[] = [];
  const run = await consort.runs.create(reviewed('one', 'two', 'three', 'four'));
  const detail = await run.wait({
    onReview: (review) => {
      asked.push(review.taskName);
      return decisions.shift();
    },
  });
  assert.deepEqual(asked, ['one', 'one', 'two', 'three']);
  assert.deepEqual(detail.tasks.map(({ output }) => output).slice(0, 2), ['one done', 'Edited by hand']);
  assert.equal(detail.tasks[3]?.status, 'SKIPPED', 'it ended early');
});

test('what was decided is not asked about again, and what was left stays open', async () => {
  const run = await consort.runs.create(reviewed('one'));
  let asked = 0;
  let last = 0;
  const leave = (): undefined => {
    asked += 1;
  };
  for await (const frame of run.stream({ onReview: leave })) {
    if (frame.type !== 'review_requested' || !('seq' in frame)) continue;
    last = frame.seq;
    break;
  }
  const [review] = await run.reviews();
  assert.ok(review);
  // Whoever comes later is asked about what is open, though its frame came before.
  await collected(run.stream({ since: last, onReview: () => Promise.resolve(approve()) }));
  await run.wait({ onReview: leave });
  assert.equal(asked, 1);
  await assert.rejects(
    run.decide(review.reviewId, approve()),
    (error) => error instanceof Conflict && error.code === 'REVIEW_RESOLVED',
  );
});

test('somebody else may decide first', async () => {
  const run = await consort.runs.create(reviewed('one'));
  const answer = await run.answer({
    onReview: async ({ reviewId }) => {
      await run.decide(reviewId, edit('theirs'));
      return edit('ours');
    },
  });
  assert.equal(answer, 'theirs');
});

test('a decision outlives the server it was asked by', async () => {
  const run = await consort.runs.create(reviewed('one'));
  let back: Promise<void> | undefined;
  const answer = await run.answer({
    onReview: async () => {
      await server.down();
      back = new Promise((resolve) => setTimeout(resolve, 1_000)).then(() => server.up());
      return edit('decided while it was away');
    },
  });
  await back;
  assert.equal(answer, 'decided while it was away');
});

test('a run is steered', async () => {
  const run = await consort.runs.create({ tasks: [{ name: 'a', description: '[words 400] [pace 50]' }] });
  await run.pause();
  assert.equal((await run.detail()).paused, true);
  await run.resume();
  await run.inject('Be brief', { target: 'a', priority: 'HIGH' });
  await run.switchModel('fake');
  await run.cancel('now');
  await assert.rejects(run.answer(), (error) => error instanceof RunFailed && error.detail.status === 'CANCELLED');
  const again = await run.retry();
  await again.cancel('now');
  assert.equal((await again.wait()).retryOf, run.id);
  await run.delete();
});

test('a plan starts nothing, and structured answers are data', async () => {
  const { total } = await consort.runs.list();
  assert.deepEqual(
    (await consort.runs.plan()).tasks.map(({ name }) => name),
    ['research', 'write'],
  );
  assert.equal((await consort.runs.list()).total, total);
  const outputSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
  const run = await consort.runs.create({ tasks: [{ description: '[say {"n": 7}]', outputSchema }] });
  assert.deepEqual(await run.answer(), { n: 7 });
});

test('a stream ends when its signal says so', async () => {
  const run = await consort.runs.create({ tasks: [{ description: '[words 400] [pace 50]' }] });
  const stop = new AbortController();
  await assert.rejects(async () => {
    for await (const frame of run.stream({ signal: stop.signal })) if (frame.type === 'token') stop.abort();
  }, /abort/i);
  await run.cancel('now');
});

test('a server that stays away is given up', async () => {
  const other = await Served.start(model.config);
  const run = await new Consort(other.url, { key: KEY, patienceMs: 500 }).runs.create();
  await assert.rejects(
    async () => {
      for await (const frame of run.stream()) if (frame.type === 'token') await other.down();
    },
    (error) => error instanceof Unreachable && /away too long/.test(error.message),
  );
  await other.close();
});
