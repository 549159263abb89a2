// Where a person keeps chats, in this browser: pinned, and in folders.

import { useLocalStorage } from '@mantine/hooks';
import type { Thread } from '../../api/types';
import { grouped } from '../../ui/grouped';
import { locale } from '../../words/t';

/** Chats whose folder is kept; the ones moved longest ago go first. */
const KEPT_MAX = 2_000;

export interface Places {
  pinned: readonly string[];
  /** The names of folders, by the ids of the chats in them. */
  folders: Readonly<Record<string, string>>;
  pin: (id: string, isPinned: boolean) => void;
  /** Puts a chat into a folder; an empty name takes it out of the one it is in. */
  move: (id: string, folder: string) => void;
}

export function usePlaces(): Places {
  const kept = { getInitialValueInEffect: false };
  const [pinned, setPinned] = useLocalStorage<string[]>({ ...kept, key: 'consort.pinned-threads', defaultValue: [] });
  const [folders, setFolders] = useLocalStorage<Record<string, string>>({
    ...kept,
    key: 'consort.thread-folders',
    defaultValue: {},
  });
  return {
    pinned,
    folders,
    pin: (id, isPinned) => setPinned((old) => [...(isPinned ? [id] : []), ...old.filter((other) => other !== id)]),
    move: (id, folder) => setFolders((old) => moved(old, id, folder)),
  };
}

export function moved(folders: Readonly<Record<string, string>>, id: string, folder: string): Record<string, string> {
  const others = Object.entries(folders).filter(([other]) => other !== id);
  const name = folder.trim();
  return Object.fromEntries([...others, ...(name ? [[id, name] as const] : [])].slice(-KEPT_MAX));
}

export interface Shelved {
  /** The name of the folder; empty for the chats in none. */
  folder: string;
  threads: Thread[];
}

/** The chats in no folder first, then those of each folder by its name; the pinned ones first in each. */
export function shelved(
  threads: readonly Thread[],
  { pinned, folders }: Pick<Places, 'pinned' | 'folders'>,
): Shelved[] {
  const groups = grouped(threads, ({ id }) => folders[id] ?? '');
  const names = [...groups.keys()].toSorted((one, other) => one.localeCompare(other, locale()));
  const isPinned = ({ id }: Thread): boolean => pinned.includes(id);
  return names.map((folder) => {
    const own = groups.get(folder) ?? [];
    return { folder, threads: [...own.filter(isPinned), ...own.filter((thread) => !isPinned(thread))] };
  });
}
