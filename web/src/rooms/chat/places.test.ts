import { expect, it } from 'vitest';
import type { Thread } from '../../api/types';
import { moved, shelved } from './places';

const thread = (id: string): Thread => ({ id, title: id }) as Thread;

it('chats are shelved by folder, the pinned ones first in each', () => {
  const threads = ['a', 'b', 'c', 'd', 'e'].map(thread);
  const folders = moved(moved(moved({}, 'b', 'Work'), 'd', ' Work '), 'e', 'Bees');
  const shown = shelved(threads, { pinned: ['c', 'd'], folders });
  expect(shown.map(({ folder, threads: own }) => [folder, own.map(({ id }) => id).join()])).toEqual([
    ['', 'c,a'],
    ['Bees', 'e'],
    ['Work', 'd,b'],
  ]);
  expect(moved(folders, 'e', '')).toEqual({ b: 'Work', d: 'Work' });
});
