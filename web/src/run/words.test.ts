import { describe, expect, it } from 'vitest';
import { breachText } from './words';

describe('a budget that is used up', () => {
  it.each([
    [
      { reason: 'llm_calls', limit: 8, observed: 9 },
      'The budget is used up: 8 model calls allowed, and continuing would make it 9',
    ],
    [
      { reason: 'cost', limit: 0.5, observed: 0.52 },
      'The budget is used up: $0.5 allowed, and continuing would make it $0.52',
    ],
    [{ reason: 'wall_clock', limit: 10_000, observed: 61_500 }, 'The budget is used up: 1 m 1 s of 10 s'],
  ])('says what was allowed, and what one more would be: %o', (breach, text) => {
    expect(breachText(breach)).toBe(text);
  });
});
