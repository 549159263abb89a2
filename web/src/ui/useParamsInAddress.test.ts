import type { NavigateFunction } from 'react-router';
import { describe, expect, it } from 'vitest';
import { changeAddress, changedSearch } from './useParamsInAddress';

describe('a change of the address', () => {
  it('sets, repeats and takes away parameters, and keeps the others', () => {
    expect(changedSearch('status=FAILED&tag=a&page=3', { tag: ['b', 'c'], page: undefined })).toBe(
      'status=FAILED&tag=b&tag=c',
    );
    expect(changedSearch('type=run_ended&memory=', { type: [] })).toBe('memory=');
    expect(changedSearch('', { memory: '', text: 'a & b' })).toBe('memory=&text=a+%26+b');
  });

  it('begins with the address as it is, though nothing was drawn since the change before', () => {
    const address = { search: '?of=3&type=run_ended' };
    const asked: unknown[] = [];
    const navigate = ((to: { search: string }, options: object) => {
      address.search = `?${to.search}`;
      asked.push(options);
    }) as NavigateFunction;
    changeAddress(address, navigate, { of: undefined }, 'replace');
    changeAddress(address, navigate, { text: 'bees' }, 'push');
    expect(address.search).toBe('?type=run_ended&text=bees');
    changeAddress(address, navigate, (now) => ({ text: now.get('text') === 'bees' ? undefined : 'bees' }), 'replace');
    expect(address.search).toBe('?type=run_ended');
    expect(asked).toEqual([true, false, true].map((replace) => ({ replace, flushSync: true })));
  });
});
