import { describe, expect, it } from 'vitest';
import { breachText, shortError } from './words';

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

describe('an error in one line', () => {
  const overloaded = 'provider error: model `swift`, http://127.0.0.1:7329/v1/chat/completions: HTTP 503: overloaded';

  it.each([
    [overloaded, 'HTTP 503: overloaded'],
    [`task 'fetch sources' failed: ${overloaded}`, 'fetch sources: HTTP 503: overloaded'],
    ['model `swift`, http://[::1]:7329/v1: no answer for 120s', 'no answer for 120s'],
    ["task 'it's odd' failed: OUTPUT_TRUNCATED: the answer was cut", "it's odd: OUTPUT_TRUNCATED: the answer was cut"],
    ['BUDGET_EXCEEDED', 'The budget is used up'],
    ['a task before it failed', 'a task before it failed'],
  ])('names the task and the cause: %s', (error, text) => {
    expect(shortError(error)).toBe(text);
  });
});
