import { describe, expect, it } from 'vitest';
import { readFilters, toQuery, writeFilters } from './filters';

describe('the filters of the list', () => {
  it('survive the address and become a query', () => {
    const filters = { status: 'FAILED', tags: ['a:b', 'c'], page: 3 };
    expect(readFilters(writeFilters(filters))).toEqual(filters);
    expect(toQuery(filters)).toBe('status=FAILED&tag=a%3Ab&tag=c&limit=50&offset=100');
    expect(readFilters(new URLSearchParams('page=-1')).page).toBe(1);
  });
});
