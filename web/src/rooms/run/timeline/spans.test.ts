import { describe, expect, it } from 'vitest';
import { merged, type Span, spansOf } from './spans';
import type { Conversation, Round } from '../../../run/state';

describe('the timeline', () => {
  it('leaves the time between two tries free', () => {
    const at = (second: number): string => new Date(second * 1_000).toISOString();
    const failure = { seq: 2, at: at(2), error: 'unavailable', message: '503', then: 'tries again' };
    const round: Round = {
      kind: 'round',
      seq: 1,
      index: 0,
      model: 'm',
      startedAt: at(0),
      endedAt: at(7),
      sent: [],
      streaming: '',
      calls: [],
      inputTokens: 0,
      outputTokens: 0,
      failures: [{ ...failure, retriedAt: at(5) }],
    };
    const drawn = spansOf({ items: [round] } as unknown as Conversation, 9_000);
    expect(drawn.map(({ kind, from, to }) => `${kind} ${from / 1_000}–${to / 1_000}`)).toEqual([
      'model 0–2',
      'retry 2–2',
      'model 5–7',
    ]);
    const waiting = spansOf({ items: [{ ...round, failures: [failure] }] } as unknown as Conversation, 9_000);
    expect(waiting.map(({ kind }) => kind)).toEqual(['model', 'retry']);
  });

  it('draws a bounded number of boxes for any number of calls', () => {
    const spans = Array.from({ length: 50_000 }, (_, seq): Span => ({
      kind: 'tool',
      from: seq * 10,
      to: seq * 10 + 8,
      title: 't',
      seq,
    }));
    const drawn = merged(spans, 1_000);
    expect(drawn.length).toBeLessThan(600);
    expect(drawn[0]?.from).toBe(0);
    expect(drawn.at(-1)?.to).toBe(499_998);
  });
});
