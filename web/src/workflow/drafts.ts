// Workflows that are changed and not saved, kept in this browser: a draft may have mistakes, which the server would
// refuse, and survives leaving the page.

import { blank, EMPTY, type Graph, type Task } from './graph';

export interface Draft {
  graph: Graph;
  /** The version it is a change of; none when it was never saved. */
  version?: number;
  /** When it was changed last, in milliseconds. */
  at: number;
}

/** Drafts kept; the oldest go first. */
const DRAFTS_MAX = 30;
const PREFIX = 'consort.workflow-draft.';
/** The name of the one that is not saved anywhere. */
const NEW = 'new';

export type Shelf = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>;

const keyOf = (id: string | undefined): string => PREFIX + (id ?? NEW);

export function readDraft(shelf: Shelf, id: string | undefined): Draft | undefined {
  const text = shelf.getItem(keyOf(id));
  if (text === null) return undefined;
  try {
    const { graph, version, at } = JSON.parse(text) as Partial<Draft>;
    if (!graph || !Array.isArray(graph.tasks) || typeof at !== 'number') return undefined;
    // A draft of an earlier version of the page has fewer fields.
    const tasks = graph.tasks.map((task: Task) => ({ ...blank(task.id), ...task }));
    return { graph: { ...EMPTY, ...graph, tasks }, at, ...(version === undefined ? {} : { version }) };
  } catch {
    return undefined;
  }
}

/** Keeps a draft. Returns whether there was room for it. */
export function keepDraft(shelf: Shelf, id: string | undefined, draft: Draft): boolean {
  try {
    shelf.setItem(keyOf(id), JSON.stringify(draft));
  } catch {
    return false;
  }
  for (const { id: oldest } of listDrafts(shelf).slice(DRAFTS_MAX)) dropDraft(shelf, oldest);
  return true;
}

export function dropDraft(shelf: Shelf, id: string | undefined): void {
  shelf.removeItem(keyOf(id));
}

/** The drafts there are, the one changed last first. */
export function listDrafts(shelf: Shelf): { id: string | undefined; draft: Draft }[] {
  return Array.from({ length: shelf.length }, (_, at) => shelf.key(at))
    .filter((key) => key?.startsWith(PREFIX))
    .map((key) => key?.slice(PREFIX.length))
    .map((name) => (name === NEW ? undefined : name))
    .flatMap((id) => {
      const draft = readDraft(shelf, id);
      return draft ? [{ id, draft }] : [];
    })
    .toSorted((one, other) => other.draft.at - one.draft.at);
}
