import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { get } from './client';
import { key } from './key';

let answer: (response: Response) => void;

beforeEach(() => {
  const stored = new Map<string, string>();
  vi.stubGlobal('sessionStorage', {
    getItem: (name: string) => stored.get(name) ?? null,
    setItem: (name: string, value: string) => stored.set(name, value),
  });
  vi.stubGlobal(
    'fetch',
    () =>
      new Promise<Response>((resolve) => {
        answer = resolve;
      }),
  );
});

afterEach(() => vi.unstubAllGlobals());

const refused = (): Response => new Response('{}', { status: 401 });

describe('a request that is refused for its key', () => {
  it('asks for another one, unless that was given meanwhile', async () => {
    key.use('old');
    const first = get('/api/status');
    answer(refused());
    await expect(first).rejects.toMatchObject({ status: 401 });
    expect(key.snapshot().isAsked).toBe(true);
    const second = get('/api/status');
    key.use('new');
    answer(refused());
    await expect(second).rejects.toMatchObject({ status: 401 });
    expect(key.snapshot()).toEqual({ value: 'new', isAsked: false });
  });
});
