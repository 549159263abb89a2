import { Autocomplete, Button, Group, Modal } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { Thread } from '../../api/types';
import type { Places } from './places';
import { t } from '../../words/t';

interface FolderDialogProps {
  thread: Thread;
  places: Places;
  close: () => void;
}

/** The folder of a chat: one there is, or a new one. */
export function FolderDialog({ thread, places, close }: FolderDialogProps) {
  const [folder, setFolder] = useState(places.folders[thread.id] ?? '');
  const move = (to: string): void => {
    places.move(thread.id, to);
    close();
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    move(folder);
  };
  return (
    <Modal opened onClose={close} title={t('Move to a folder')}>
      <form onSubmit={submit}>
        <Autocomplete
          label={t('Folder')}
          description={t('Folders are kept in this browser.')}
          data-autofocus
          openOnFocus={false}
          maxLength={80}
          data={[...new Set(Object.values(places.folders))]}
          value={folder}
          onChange={setFolder}
        />
        <Group justify="flex-end" mt="md">
          {places.folders[thread.id] ? (
            <Button variant="default" onClick={() => move('')}>
              {t('Remove from the folder')}
            </Button>
          ) : null}
          <Button type="submit" disabled={!folder.trim()}>
            {t('Move')}
          </Button>
        </Group>
      </form>
    </Modal>
  );
}
