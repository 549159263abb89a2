import { expect, it } from 'vitest';
import { namesIn } from './expression';

it('names the tasks an expression reads', () => {
  expect(namesIn(`outputs.triage.kind == 'bug' && size(outputs['my plan'].items) > 0 || outputs.triage.x`)).toEqual([
    'triage',
    'my plan',
  ]);
  expect(namesIn('inputs.urgent')).toEqual([]);
  expect(namesIn(undefined)).toEqual([]);
});
