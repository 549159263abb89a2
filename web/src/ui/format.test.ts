import { describe, expect, it } from 'vitest';
import { count, countdown, duration, moment, money, preview } from './format';

describe('numbers', () => {
  it('read as people say them', () => {
    expect([duration(950), duration(9_400), duration(61_000), duration(7_260_000)]).toEqual([
      '950 ms',
      '9.4 s',
      '1 m 1 s',
      '2 h 1 m',
    ]);
    expect([countdown(0), countdown(59_001), countdown(3_600_000)]).toEqual(['0:00', '1:00', '1:00:00']);
    expect([count(-1), count(9_999), count(12_340), count(1_000_000)]).toEqual(['unknown', '9,999', '12.3k', '1M']);
    expect([money(0), money(0.00001), money(0.0123), money(12.5)]).toEqual(['$0', '<$0.0001', '$0.0123', '$12.50']);
  });
});

describe('the beginning of a text', () => {
  it.each([
    ['\n# The waggle dance\n\nA forager', 'The waggle dance'],
    ['> - **Hive one** weighs', 'Hive one weighs'],
    ['-5 degrees', '-5 degrees'],
    ['{"a": 1}', '{"a": 1}'],
    ['x'.repeat(300), 'x'.repeat(200)],
    ['', ''],
  ])('is its first line, without the signs of Markdown: %j', (text, expected) => {
    expect(preview(text)).toBe(expected);
  });
});

describe('a moment', () => {
  it('names the time zone where it is asked to', () => {
    const at = '2026-11-23T07:00:00Z';
    expect(moment(at, 'named').replace(moment(at), '')).toMatch(/^ \S+$/);
  });
});
