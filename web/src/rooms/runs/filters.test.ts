import { describe, expect, it } from 'vitest';
import type { RunRow } from '../../api/types';
import { chosen, isFiltered, NO_FILTERS, readFilters, searchOf, toQuery, writeFilters } from './filters';

const NOW = Date.parse('2026-03-10T12:00:00Z');

const row = (runId: string, fields: Partial<RunRow>): RunRow => ({
  runId,
  ensemble: 'newsroom',
  owner: 'local',
  title: '',
  model: 'swift',
  status: 'COMPLETED',
  startedAt: '2026-03-05T12:00:00Z',
  durationMs: 1_000,
  taskCount: 1,
  completedTasks: 1,
  workflow: 'SEQUENTIAL',
  tags: {},
  paused: false,
  cancelRequested: false,
  totalTokens: 10,
  ...fields,
});

const ids = (filters: object, ...runs: RunRow[]): string[] =>
  chosen(runs, { ...NO_FILTERS, ...filters }, NOW).map(({ runId }) => runId);

describe('the filters of the list', () => {
  it('survive the address and become a query', () => {
    const filters = { ...NO_FILTERS, status: 'FAILED', tags: ['a:b', 'c'], page: 3 };
    expect(readFilters(new URLSearchParams(searchOf(filters)))).toEqual(filters);
    expect(toQuery(filters)).toBe('status=FAILED&tag=a%3Ab&tag=c&limit=50&offset=100');
    expect(readFilters(new URLSearchParams('page=-1&sort=sideways'))).toEqual(NO_FILTERS);
    const all = { ...filters, text: 'bees', model: 'swift', from: '2026-01-01', to: '2026-01-31', cost: '0.5' };
    expect(readFilters(new URLSearchParams(searchOf({ ...all, sort: 'cost' })))).toEqual({ ...all, sort: 'cost' });
    expect(writeFilters({ tags: [], status: '', page: 1 })).toEqual({ tag: [], status: undefined, page: undefined });
  });

  it('ask the server for all that is left where the choice is made here', () => {
    expect(toQuery({ ...NO_FILTERS, status: 'WAITING', page: 2 })).toBe('status=RUNNING&waiting=review&limit=500');
    expect(toQuery({ ...NO_FILTERS, status: 'PAUSED' })).toBe('status=RUNNING&paused=true&limit=500');
    expect(toQuery({ ...NO_FILTERS, sort: 'cost' })).toBe('limit=500');
    expect(toQuery({ ...NO_FILTERS, model: 'swift', cost: '0.5' })).toBe('model=swift&minCost=0.5&limit=500');
    expect(isFiltered({ ...NO_FILTERS, sort: 'cost', page: 4 })).toBe(false);
  });

  it('leave words, whole days of the person who looks, work for peers and the order by start to the server', () => {
    const query = new URLSearchParams(
      toQuery({
        ...NO_FILTERS,
        kind: 'peer',
        text: ' dance bees ',
        from: '2026-01-01',
        to: '2026-01-01',
        sort: 'oldest',
      }),
    );
    expect(query.get('q')).toBe('dance bees');
    expect(query.get('kind')).toBe('peer');
    expect(query.get('order')).toBe('oldest');
    const day = Date.parse(query.get('to') ?? '') - Date.parse(query.get('from') ?? '');
    expect(day).toBe(24 * 60 * 60 * 1_000 - 1);
    expect(query.get('limit')).toBe('50');
    expect(toQuery({ ...NO_FILTERS, from: 'soon' })).toBe('limit=50&offset=0');
  });

  it('tell waiting and paused runs from others', () => {
    const runs = [
      row('waits', { status: 'RUNNING', durationMs: null, waitingFor: 'review' }),
      row('rests', { status: 'RUNNING', durationMs: null, paused: true }),
      row('works', { status: 'RUNNING', durationMs: null }),
    ];
    expect(ids({ status: 'WAITING' }, ...runs)).toEqual(['waits']);
    expect(ids({ status: 'PAUSED' }, ...runs)).toEqual(['rests']);
    expect(ids({ status: 'RUNNING' }, ...runs)).toEqual(['works']);
  });

  it('sort by what is asked for', () => {
    const cheap = row('cheap', { totalTokens: 9, costEstimate: { inputCost: 0.1, outputCost: 0 }, title: 'b' });
    const dear = row('dear', { totalTokens: 5, costEstimate: { inputCost: 1, outputCost: 0 }, title: 'a' });
    const long = row('long', { durationMs: null, startedAt: '2026-03-01T12:00:00Z', totalTokens: 1, title: 'c' });
    const runs = [cheap, dear, long];
    expect(ids({ sort: 'cost' }, ...runs)).toEqual(['dear', 'cheap', 'long']);
    expect(ids({ sort: 'tokens' }, ...runs)).toEqual(['cheap', 'dear', 'long']);
    expect(ids({ sort: 'longest' }, ...runs)[0]).toBe('long');
    expect(ids({ sort: 'oldest' }, ...runs)[0]).toBe('long');
    expect(ids({ sort: 'title' }, ...runs)).toEqual(['dear', 'cheap', 'long']);
  });
});
