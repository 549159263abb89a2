// The entries of the palette: pages and actions, and what the words typed are found in.

import type { ListedWorkflow, RunRow, Thread } from '../api/types';
import { runName } from '../ui/runName';
import { statusText } from '../ui/Status';
import { t } from '../words/t';

export interface Entry {
  id: string;
  /** The group it is listed under. */
  group: 'Go to' | 'Actions' | 'Runs' | 'Chats' | 'Workflows' | 'Found';
  title: string;
  /** A few words beside the title. */
  note?: string;
  /** The page it leads to, or what it does. */
  act: string | (() => void);
}

/** One result of a search over everything. */
export interface Hit {
  kind: 'run' | 'thread' | 'workflow' | 'document';
  id: string;
  title: string;
  snippet: string;
  at?: string;
}

/** Entries shown of one group. */
const GROUP_MAX = 6;

/** The entries that have all the words, at most a few of each group; those whose title begins with them first. */
export function matching(entries: readonly Entry[], typed: string): Entry[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const counts = new Map<string, number>();
  const first = words[0] ?? '';
  const begins = ({ title }: Entry): number => (title.toLowerCase().startsWith(first) ? 0 : 1);
  return entries
    .filter(({ group, title, note = '', id }) => {
      // The server has found these by words they may not show.
      if (group === 'Found') return true;
      const text = `${title} ${note} ${id}`.toLowerCase();
      return words.every((word) => text.includes(word));
    })
    .toSorted((one, other) => begins(one) - begins(other))
    .filter(({ group }) => {
      counts.set(group, (counts.get(group) ?? 0) + 1);
      return (counts.get(group) ?? 0) <= GROUP_MAX;
    })
    .toSorted((one, other) => ORDER.indexOf(one.group) - ORDER.indexOf(other.group));
}

const ORDER: Entry['group'][] = ['Go to', 'Actions', 'Runs', 'Chats', 'Workflows', 'Found'];

export const runEntry = (run: RunRow): Entry => ({
  id: run.runId,
  group: 'Runs',
  title: runName(run),
  note: [run.ensemble, statusText(run.status), run.outputPreview].filter(Boolean).join(' · '),
  act: `/runs/${run.runId}`,
});

export const threadEntry = ({ id, title }: Thread): Entry => ({
  id,
  group: 'Chats',
  title: title || t('Untitled'),
  act: `/chat/${id}`,
});

export const workflowEntry = ({ id, name, description }: ListedWorkflow): Entry => ({
  id,
  group: 'Workflows',
  title: name,
  ...(description ? { note: description } : {}),
  act: `/workflows/${id}`,
});

const PLACES: Record<Hit['kind'], (id: string) => string> = {
  run: (id) => `/runs/${id}`,
  thread: (id) => `/chat/${id}`,
  workflow: (id) => `/workflows/${id}`,
  document: documentAddress,
};

/** The page of a document, which is found as `kitchen/1`. */
function documentAddress(id: string): string {
  const end = id.lastIndexOf('/');
  return `/documents?${new URLSearchParams({ collection: id.slice(0, end), document: id.slice(end + 1) })}`;
}

/** The results of the server, without those that are listed already. */
export function hitEntries(hits: readonly Hit[], listed: readonly Entry[]): Entry[] {
  const known = new Set(listed.map(({ id }) => id));
  return hits
    .filter(({ id }) => !known.has(id))
    .map(({ kind, id, title, snippet }) => ({
      id,
      group: 'Found',
      title: title || id,
      note: `${kind}: ${snippet}`,
      act: PLACES[kind](id),
    }));
}
