import { useCallback, useState, useSyncExternalStore } from 'react';

/** Drafts kept; the oldest go first. */
const KEPT_MAX = 200;
const kept = new Map<string, unknown>();
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Puts a draft in the place of the one there is; the field that shows it follows. */
export function setDraft(name: string, draft: unknown): void {
  kept.delete(name);
  kept.set(name, draft);
  for (const oldest of [...kept.keys()].slice(0, Math.max(0, kept.size - KEPT_MAX))) kept.delete(oldest);
  for (const listener of listeners) listener();
}

/** A text being written, kept under a name while the page is open, however often its field is unmounted. */
export function useDraft<T>(name: string, initial: T): [T, (change: Partial<T>) => void] {
  const [empty] = useState(initial);
  const draft = useSyncExternalStore(subscribe, () => newest(name, empty));
  const change = useCallback(
    // Read again: a change may come from an action that began when the draft was another.
    (part: Partial<T>): void => setDraft(name, { ...newest(name, empty), ...part }),
    [name, empty],
  );
  return [draft, change];
}

function newest<T>(name: string, initial: T): T {
  return kept.has(name) ? (kept.get(name) as T) : initial;
}

/** The draft as it is now, for an action that began before it was changed. */
export function draftOf<T>(name: string): T | undefined {
  return kept.get(name) as T | undefined;
}

/** Forgets a draft. A field that still shows it keeps it until it is gone. */
export function forgetDraft(name: string): void {
  kept.delete(name);
}
