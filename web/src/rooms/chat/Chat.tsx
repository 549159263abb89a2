import { ActionIcon, Button, Menu, Modal, Stack, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconDots, IconFolder, IconPencilPlus, IconPin } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Link, useNavigate, useParams } from 'react-router';
import { get, patch, remove } from '../../api/client';
import type { Answer, Thread } from '../../api/types';
import { ConfirmDelete } from '../../ui/ConfirmDelete';
import { HeadingLevel } from '../../ui/headings';
import { ProblemNote } from '../../ui/Note';
import { useTitle } from '../../ui/Page';
import { useAction } from '../../ui/useAction';
import css from './Chat.module.css';
import { FolderDialog } from './FolderDialog';
import { Memory } from './Memory';
import { NewThread, OneThread } from './OneThread';
import { type Places, shelved, usePlaces } from './places';
import { t } from '../../words/t';
import { Said } from '../../words/Said';

const ACTIVE_MS = 3_000;

/** Chats: the list of them, and one. */
export default function Chat() {
  const { threadId } = useParams();
  useTitle(t('Chat'));
  return (
    <div className={css.split} data-open={threadId === undefined ? undefined : true}>
      <Threads chosen={threadId} />
      <HeadingLevel value={2}>
        {threadId === undefined || threadId === 'new' ? <NewThread /> : <OneThread key={threadId} id={threadId} />}
      </HeadingLevel>
    </div>
  );
}

function Threads({ chosen }: { chosen: string | undefined }) {
  const [wanted, setWanted] = useState('');
  const [query] = useDebouncedValue(wanted, 250);
  const places = usePlaces();
  const { data, error } = useQuery({
    queryKey: ['threads', query],
    queryFn: ({ signal }) =>
      get<Answer<'GET /api/threads'>>(`/api/threads${query ? `?q=${encodeURIComponent(query)}` : ''}`, signal),
    refetchInterval: ACTIVE_MS,
  });
  return (
    <section className={css.threads} aria-label={t('Chats')}>
      <header>
        <h1>{t('Chat')}</h1>
        <Memory />
        <ActionIcon component={Link} to="/chat/new" variant="default" size={30} aria-label={t('New chat')}>
          <IconPencilPlus size={17} />
        </ActionIcon>
      </header>
      <TextInput
        className={css.search}
        size="xs"
        aria-label={t('Search chats')}
        placeholder={t('Search')}
        value={wanted}
        onChange={(event) => setWanted(event.currentTarget.value)}
      />
      {error ? <ProblemNote what={t('The chats could not be listed')} error={error} /> : null}
      <div className={css.lists}>
        {shelved(data?.threads ?? [], places).map(({ folder, threads }) => {
          const list = (
            <ul key={folder} aria-label={folder || undefined}>
              {threads.map((thread) => (
                <Entry key={thread.id} thread={thread} isChosen={thread.id === chosen} places={places} />
              ))}
            </ul>
          );
          return folder === '' ? (
            list
          ) : (
            <details key={folder} open>
              <summary>
                <IconFolder size={14} aria-hidden />
                <span translate="no">{folder}</span>
              </summary>
              {list}
            </details>
          );
        })}
      </div>
      {data?.threads.length === 0 ? (
        <p className={css.none}>
          {query ? (
            t('No chat was found with these words.')
          ) : (
            <>
              <Said of="No chats yet. {link}" link={<Link to="/chat/new">{t('Begin one')}</Link>} />
            </>
          )}
        </p>
      ) : null}
    </section>
  );
}

interface EntryProps {
  thread: Thread;
  isChosen: boolean;
  places: Places;
}

function Entry({ thread, isChosen, places }: EntryProps) {
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
      {thread.running ? <span className={css.live} role="img" aria-label={t('A turn is running')} /> : null}
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
