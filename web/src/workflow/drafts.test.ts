import { describe, expect, it } from 'vitest';
import { dropDraft, keepDraft, listDrafts, readDraft, type Shelf } from './drafts';
import { drawn } from './fixture';

function shelf(room = Infinity): Shelf {
  const kept = new Map<string, string>();
  return {
    get length() {
      return kept.size;
    },
    key: (at) => [...kept.keys()][at] ?? null,
    getItem: (key) => kept.get(key) ?? null,
    removeItem: (key) => void kept.delete(key),
    setItem: (key, value) => {
      if (value.length > room) throw new Error('full');
      kept.set(key, value);
    },
  };
}

describe('drafts', () => {
  const graph = drawn();

  it('are kept by workflow and dropped one by one', () => {
    const kept = shelf();
    expect(keepDraft(kept, 'w', { graph, version: 2, at: 1 })).toBe(true);
    expect(keepDraft(kept, undefined, { graph, at: 2 })).toBe(true);
    expect(readDraft(kept, 'w')).toEqual({ graph, version: 2, at: 1 });
    expect(listDrafts(kept).map(({ id }) => id)).toEqual([undefined, 'w']);
    dropDraft(kept, undefined);
    expect(readDraft(kept, undefined)).toBeUndefined();
    expect(readDraft(kept, 'w')).toBeDefined();
  });

  it('say when there is no room, and never break on what is not theirs', () => {
    const full = shelf(20);
    expect(keepDraft(full, 'w', { graph, at: 1 })).toBe(false);
    full.setItem('consort.workflow-draft.w', '{"graph":');
    expect(readDraft(full, 'w')).toBeUndefined();
    expect(listDrafts(full)).toEqual([]);
  });

  it('are at most thirty: the oldest go', () => {
    const kept = shelf();
    for (let at = 0; at < 32; at += 1) keepDraft(kept, `w${at}`, { graph, at });
    expect(listDrafts(kept)).toHaveLength(30);
    expect(readDraft(kept, 'w1')).toBeUndefined();
  });
});
