import { describe, expect, it } from 'vitest';
import { RUN } from '../../../run/fixture';
import { type EventFilter, matches } from './match';

const found = (filter: Partial<EventFilter>): string[] =>
  RUN.filter((frame) => matches(frame, { task: 0, types: [], text: '', ...filter })).map(({ type }) => type);

describe('the filter of the events', () => {
  it('finds those of a task, of a type and with words, alone and together', () => {
    expect(found({ task: 2 })).toEqual(['task_started', 'task_failed']);
    expect(found({ types: ['tool_called', 'tool_dispatched'] })).toEqual(['tool_dispatched', 'tool_called']);
    expect(found({ text: 'BE brief' })).toContain('directive_active');
    expect(found({ task: 1, types: ['tool_called'], text: '42' })).toEqual(['tool_called']);
    expect(found({ task: 1, types: ['tool_called'], text: 'nobody said this' })).toEqual([]);
    expect(found({}).length).toBe(RUN.length);
  });
});
