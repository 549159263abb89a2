// What is read and decided without waiting.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { NotConsort } from '../src/errors.js';
import { Absence, address, Decoder, EVENT_MAX, Position, segment, type ServerSentEvent } from '../src/wire.js';

const STREAM =
  'id: 7\nevent: message\ndata: {"a":\ndata: "ö"}\n\n: alive\n\nevent: token\r\ndata: x\r\n\r\ndata: unfinished';

test('events are the same in pieces of any size', () => {
  const expected: ServerSentEvent[] = [
    { id: 7, kind: 'message', data: '{"a":\n"ö"}' },
    { id: undefined, kind: 'token', data: 'x' },
  ];
  for (let size = 1; size <= STREAM.length; size += 1) {
    const decoder = new Decoder();
    const pieces = STREAM.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
    assert.deepEqual(
      pieces.flatMap((piece) => decoder.feed(piece)),
      expected,
      `${size}`,
    );
  }
});

test('an event without end is refused', () => {
  const decoder = new Decoder();
  const piece = 'x'.repeat(1_000_000);
  assert.throws(() => {
    for (let size = 0; size <= EVENT_MAX; size += piece.length) decoder.feed(piece);
  }, NotConsort);
});

test('stored frames come once and others always', () => {
  const position = new Position(3);
  const numbers = [2, 3, 4, undefined, 4, 5, undefined];
  const taken = numbers.flatMap((id) => position.take({ id, kind: 'x', data: JSON.stringify({ n: id ?? null }) }));
  assert.deepEqual(
    taken,
    [4, null, 5, null].map((n) => ({ n })),
  );
});

test('words come once, whatever of them is sent again', () => {
  const position = new Position();
  const take = (offset: number, content: string, call_id = 'a'): unknown[] => {
    const data = JSON.stringify({ type: 'chunk', call_id, offset, content });
    return position.take({ id: undefined, kind: 'chunk', data }).map((frame) => 'content' in frame && frame.content);
  };
  assert.deepEqual(take(0, 'größe '), ['größe ']);
  assert.deepEqual(take(0, 'größe '), []);
  assert.deepEqual(take(0, 'größe und'), ['und']);
  assert.deepEqual(take(0, 'b', 'b'), ['b']);
  assert.deepEqual(take(11, '!'), ['!']);
  const whole = { type: 'llm_completed', call_id: 'a', content: 'größe und! Ja', depth: 0, chat_seq: 9 };
  const over = { id: 9, kind: 'llm_completed', data: JSON.stringify(whole) };
  const [words, frame] = position.take(over);
  assert.deepEqual([words && 'content' in words && words.content, frame], [' Ja', whole]);
  assert.deepEqual(position.take(over), []);
  const calls = { type: 'message', role: 'assistant', call_id: 'c', content: 'Let me look' };
  const taken = position.take({ id: 10, kind: 'message', data: JSON.stringify(calls) });
  assert.deepEqual(
    taken.map(({ type }) => type),
    ['chunk', 'message'],
  );
  const row = { type: 'message', role: 'assistant', content: 'it was said before' };
  assert.deepEqual(position.take({ id: 11, kind: 'message', data: JSON.stringify(row) }), [row]);
});

test('pauses double until patience ends', () => {
  const absence = new Absence(3_000);
  assert.deepEqual(
    [0, 100, 300, 3_000].map((now) => absence.nextPause(now)),
    [100, 200, 400, undefined],
  );
  absence.over();
  assert.equal(absence.nextPause(10_000), 100);
  assert.equal(absence.nextPause(100_000, 99_000), undefined, 'a connection that broke at once was none');
  assert.equal(absence.nextPause(100_000, 20_000), 100, 'one that held was one, though nothing came');
});

test('names stay one segment of an address, and addresses are looked at', () => {
  assert.equal(segment('a/b c?'), 'a%2Fb%20c%3F');
  for (const wrong of ['', '.', '..']) assert.throws(() => segment(wrong), TypeError);
  for (const wrong of ['localhost:7329', 'ftp://a', 'http://']) assert.throws(() => address(wrong), TypeError);
  assert.equal(address('http://a/team/'), 'http://a/team');
});
