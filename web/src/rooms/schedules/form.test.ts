import { expect, it } from 'vitest';
import { draftOf, inputsOf, requestOf } from './form';

it('sends a pattern with its zone, or an interval', () => {
  const draft = draftOf(undefined, 'Europe/Berlin');
  expect(requestOf(draft)).toMatchObject({ cron: '0 8 * * MON', timezone: 'Europe/Berlin', workflow: null });
  const every = requestOf({ ...draft, kind: 'every', every: '15m', workflow: 'hive-report' });
  expect(every).toMatchObject({ every: '15m', workflow: 'hive-report' });
  expect(every).not.toHaveProperty('cron');
});

it.each([
  ['', {}],
  ['{"topic": "bees", "n": 3}', { topic: 'bees', n: 3 }],
  ['[1]', undefined],
  ['"bees"', undefined],
  ['{"topic": ', undefined],
])('reads %j as inputs', (text, inputs) => {
  expect(inputsOf(text)).toEqual(inputs);
});
