import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { upload } from '../../api/client';
import { collectionPath } from './paths';
import { plural, t } from '../../words/t';

/** The files a collection takes, for the browser's dialog. */
export const TAKEN = 'text/*,.txt,.md,.markdown,.html,.htm,.csv,.pdf,.docx';

interface Refused {
  file: string;
  problem: unknown;
}

/** Files on their way into a collection, one after the other, with those that were refused. */
export function useUploads(collection: string) {
  const client = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const [said, setSaid] = useState('');
  const [refused, setRefused] = useState<Refused[]>([]);
  const add = async (files: File[]): Promise<void> => {
    setBusy(true);
    setRefused([]);
    let added = 0;
    for (const [at, file] of files.entries()) {
      setSaid(t('Adding {at} of {count}: {name}', { at: at + 1, count: files.length, name: file.name }));
      try {
        // One at a time: the server reads each file whole, within limits.
        // oxlint-disable-next-line no-await-in-loop
        await upload('POST', `${collectionPath(collection)}/documents`, file);
        added += 1;
      } catch (problem) {
        setRefused((before) => [...before, { file: file.name, problem }]);
      }
    }
    setSaid(added === 0 ? '' : plural(added, '{n} document was added.', '{n} documents were added.'));
    setBusy(false);
    await client.invalidateQueries();
  };
  return { add: (files: File[]) => void add(files), isBusy, said, refused };
}
