import { useState } from 'react';

/** Drafts kept; the oldest go first. */
const KEPT_MAX = 200;
const kept = new Map<string, unknown>();

/** A text being written, kept under a name while the page is open, however often its field is unmounted. */
export function useDraft<T>(name: string, initial: T): [T, (change: Partial<T>) => void] {
  const [draft, setDraft] = useState(() => newest(name, initial));
  const change = (part: Partial<T>): void => {
    // Read again: a change may come from an action that began when the draft was another.
    const next = { ...newest(name, initial), ...part };
    kept.delete(name);
    kept.set(name, next);
    for (const oldest of [...kept.keys()].slice(0, Math.max(0, kept.size - KEPT_MAX))) kept.delete(oldest);
    setDraft(next);
  };
  return [draft, change];
}

function newest<T>(name: string, initial: T): T {
  return kept.has(name) ? (kept.get(name) as T) : initial;
}

/** The draft as it is now, for an action that began before it was changed. */
export function draftOf<T>(name: string): T | undefined {
  return kept.get(name) as T | undefined;
}

export function forgetDraft(name: string): void {
  kept.delete(name);
}
