import { ActionIcon, Button, Menu, Modal, Stack, TextInput } from '@mantine/core';
import { IconDots, IconPin } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { patch, remove } from '../../api/client';
import type { Thread } from '../../api/types';
import { ConfirmDelete } from '../../ui/ConfirmDelete';
import { useAction } from '../../ui/useAction';
import css from './Chat.module.css';
import { FolderDialog } from './FolderDialog';
import type { Places } from './places';
import { t } from '../../words/t';

interface EntryProps {
  thread: Thread;
  isChosen: boolean;
  /** Whether a call of it waits for permission. */
  asks: boolean;
  places: Places;
}

/** One chat in the list, with what can be done about it. */
export function Entry({ thread, isChosen, asks, places }: EntryProps) {
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<'rename' | 'move' | 'delete'>();
  const isPinned = places.pinned.includes(thread.id);
  const shut = (): void => setDialog(undefined);
  const erase = useAction(
    t('Deleting'),
    () => remove(`/api/threads/${thread.id}`),
    () => {
      shut();
      if (isChosen) void navigate('/chat');
    },
  );
  return (
    <li className={css.entry} data-chosen={isChosen || undefined}>
      {isPinned ? <IconPin size={13} role="img" aria-label={t('Pinned')} /> : null}
      {thread.running ? (
        <span
          className={css.live}
          role="img"
          data-asks={asks || undefined}
          aria-label={asks ? t('waits for permission') : t('A turn is running')}
        />
      ) : null}
      <Link to={`/chat/${thread.id}`} aria-current={isChosen ? 'page' : undefined} title={thread.title}>
        {thread.title || t('Untitled')}
      </Link>
      <Menu>
        <Menu.Target>
          <ActionIcon
            variant="subtle"
            color="gray"
            size={24}
            mr={4}
            aria-label={t('More about {title}', { title: thread.title || t('this chat') })}
          >
            <IconDots size={14} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => places.pin(thread.id, !isPinned)}>{isPinned ? t('Unpin') : t('Pin')}</Menu.Item>
          <Menu.Item onClick={() => setDialog('move')}>{t('Move to a folder')}</Menu.Item>
          <Menu.Item onClick={() => setDialog('rename')}>{t('Rename')}</Menu.Item>
          <Menu.Item color="red" onClick={() => setDialog('delete')}>
            {t('Delete')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Rename thread={thread} opened={dialog === 'rename'} close={shut} />
      {dialog === 'move' ? <FolderDialog thread={thread} places={places} close={shut} /> : null}
      <ConfirmDelete
        what={thread.title || t('this chat')}
        means={t('Everything that was said in it is erased.')}
        opened={dialog === 'delete'}
        close={shut}
        confirm={() => erase.mutate()}
      />
    </li>
  );
}

function Rename({ thread, opened, close }: { thread: Thread; opened: boolean; close: () => void }) {
  const [title, setTitle] = useState(thread.title);
  const rename = useAction(t('Renaming'), () => patch(`/api/threads/${thread.id}`, { title }), close);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (title.trim()) rename.mutate();
  };
  return (
    <Modal opened={opened} onClose={close} title={t('Rename the chat')}>
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label={t('Title')}
            data-autofocus
            value={title}
            onChange={(event) => setTitle(event.currentTarget.value)}
          />
          <Button type="submit" disabled={!title.trim()} loading={rename.isPending}>
            {t('Rename')}
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}
