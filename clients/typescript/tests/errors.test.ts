// What is refused, by whom and in which words.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';

import {
  BadRequest,
  Busy,
  Conflict,
  Consort,
  Forbidden,
  NotConsort,
  NotFound,
  Problem,
  type RunRequest,
  Unauthorized,
  Unreachable,
} from '../src/index.js';
import { FakeModel, KEY, READER, Served } from './harness.js';

let model: FakeModel;
let server: Served;
let consort: Consort;

before(async () => {
  model = await FakeModel.start();
  server = await Served.start(model.config.replace('max_concurrent_runs = 8', 'max_concurrent_runs = 1'));
  consort = new Consort(server.url, { key: KEY });
});

after(async () => {
  await server.close();
  model.close();
});

const is =
  (Kind: typeof Problem, status: number, code: string) =>
  (error: unknown): boolean =>
    error instanceof Kind && error.status === status && error.code === code;

test('a wrong key and none are refused', async () => {
  for (const key of ['wrong', undefined]) {
    const stranger = new Consort(server.url, { key });
    await assert.rejects(stranger.runs.create(), is(Unauthorized, 401, 'UNAUTHORIZED'));
    await assert.rejects(stranger.runs.open('run-1').stream().next(), is(Unauthorized, 401, 'UNAUTHORIZED'));
  }
});

test('a key without the scope is told which', async () => {
  const reader = new Consort(server.url, { key: READER });
  await assert.rejects(reader.runs.create(), is(Forbidden, 403, 'FORBIDDEN'));
  await assert.rejects(reader.runs.create(), /`run`/);
});

test('every mistake of a request is named with its place', async () => {
  const tasks = [
    { description: 'a', tools: ['fly'] },
    { description: 'b', model: 'huge' },
  ];
  await assert.rejects(consort.runs.create({ tasks }), (error) => {
    assert.ok(error instanceof BadRequest && error.requestId);
    assert.equal(error.mistakes.length, 2);
    return true;
  });
  await assert.rejects(consort.runs.create({ tasks: [] }), BadRequest);
});

test('what is not there is not found', async () => {
  await assert.rejects(consort.runs.open('run-none').detail(), is(NotFound, 404, 'RUN_NOT_FOUND'));
  await assert.rejects(consort.runs.open('run-none').stream().next(), is(NotFound, 404, 'RUN_NOT_FOUND'));
  await assert.rejects(consort.runs.open('../threads').detail(), NotFound);
  await assert.rejects(consort.threads.open('thread-none').say('hello'), NotFound);
  await assert.rejects(consort.tool('fly', {}), NotFound);
  await assert.rejects(consort.runs.open('..').detail(), TypeError);
});

test('a full server says when to come again', async () => {
  const slow: RunRequest = { tasks: [{ description: '[words 400] [pace 50]' }] };
  const run = await consort.runs.create(slow);
  await assert.rejects(
    consort.runs.create(slow),
    (error) => error instanceof Busy && error.code === 'CONCURRENCY_LIMIT' && (error.retryAfterMs ?? 0) > 0,
  );
  await run.cancel('now');
  await run.wait();
  await assert.rejects(run.pause(), is(Conflict, 409, 'RUN_COMPLETED'));
});

test('the same key with another body is refused', async () => {
  const say = (words: string): RunRequest => ({ tasks: [{ description: `[say ${words}]` }] });
  const first = await consort.runs.create(say('a'), 'k');
  assert.equal((await consort.runs.create(say('a'), 'k')).id, first.id);
  await assert.rejects(consort.runs.create(say('b'), 'k'), is(BadRequest, 422, 'IDEMPOTENCY_CONFLICT'));
  await first.wait();
});

test('a tool that fails says why, and any request can be sent by its name', async () => {
  assert.equal(await consort.tool('calculator', '6 * 7'), '42');
  await assert.rejects(consort.tool('calculator', '6 *'));
  assert.deepEqual(
    (await consort.call('GET /api/capabilities')).models.map(({ alias }) => alias),
    ['fake'],
  );
  assert.match(String(await consort.call('GET /metrics')), /consort_queue_depth/);
  const { id } = await consort.threads.create('Bees and wasps');
  assert.match(String(await consort.call('GET /api/threads/{id}/export', { path: { id } })), /^# Bees and wasps/);
  assert.equal(await consort.threads.open(id).delete(), undefined);
});

test('an address that is none is told at once, a server that is not there soon', async () => {
  assert.throws(() => new Consort('localhost:7329'), /is not the address of a server/);
  const nowhere = new Consort('http://127.0.0.1:1', { patienceMs: 100 });
  await assert.rejects(
    nowhere.runs.list(),
    (error) => error instanceof Unreachable && /cannot reach/.test(error.message),
  );
  await assert.rejects(nowhere.runs.open('run-1').stream().next(), Unreachable);
});

test('a broken stream is asked for again after the last frame', async () => {
  const asked: (string | undefined)[] = [];
  const pieces = [
    'id: 0\ndata: {"type": "a"}\n\nid: 1\ndata: {"type": "b"}\n\nid: 2\nda',
    'id: 1\ndata: {"type": "b"}\n\nid: 2\ndata: {"type": "c"}\n\ndata: {"type": "run_result"}\n\n',
  ];
  const stream = createServer((request, response) => {
    const piece = pieces[asked.length];
    asked.push(request.headers['last-event-id'] as string | undefined);
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(piece);
  });
  stream.listen(0, '127.0.0.1');
  await once(stream, 'listening');
  const frames: string[] = [];
  const consort = new Consort(`http://127.0.0.1:${(stream.address() as AddressInfo).port}`);
  for await (const { type } of consort.runs.open('run-1').stream()) frames.push(type);
  assert.deepEqual(
    [frames, asked],
    [
      ['a', 'b', 'c', 'run_result'],
      [undefined, '1'],
    ],
  );
  stream.close();
  stream.closeAllConnections();
});

test('a server of others is told apart', async () => {
  const page = createServer((request, response) => {
    response.writeHead(request.url?.startsWith('/api/threads') ? 404 : 200).end('<html>');
  });
  page.listen(0, '127.0.0.1');
  await once(page, 'listening');
  const other = new Consort(`http://127.0.0.1:${(page.address() as AddressInfo).port}`);
  await assert.rejects(other.runs.list(), NotConsort);
  await assert.rejects(other.threads.list(), NotConsort);
  page.close();
  page.closeAllConnections();
});
