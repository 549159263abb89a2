import { ActionIcon, Button, Menu, Modal, Stack, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconDots, IconPencilPlus } from '@tabler/icons-react';
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
import { Memory } from './Memory';
import { NewThread, OneThread } from './OneThread';

const ACTIVE_MS = 3_000;

/** Conversations: the list of them, and one. */
export default function Chat() {
  const { threadId } = useParams();
  useTitle('Chat');
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
  const { data, error } = useQuery({
    queryKey: ['threads', query],
    queryFn: ({ signal }) =>
      get<Answer<'GET /api/threads'>>(`/api/threads${query ? `?q=${encodeURIComponent(query)}` : ''}`, signal),
    refetchInterval: ACTIVE_MS,
  });
  return (
    <section className={css.threads} aria-label="Threads">
      <header>
        <h1>Chat</h1>
        <Memory />
        <ActionIcon component={Link} to="/chat/new" variant="default" size={30} aria-label="New conversation">
          <IconPencilPlus size={17} />
        </ActionIcon>
      </header>
      <TextInput
        className={css.search}
        size="xs"
        aria-label="Search conversations"
        placeholder="Search"
        value={wanted}
        onChange={(event) => setWanted(event.currentTarget.value)}
      />
      {error ? <ProblemNote what="The conversations could not be listed" error={error} /> : null}
      <ul>
        {data?.threads.map((thread) => (
          <Entry key={thread.id} thread={thread} isChosen={thread.id === chosen} />
        ))}
      </ul>
      {data?.threads.length === 0 ? (
        <p className={css.none}>
          {query ? (
            'No conversation has these words.'
          ) : (
            <>
              No conversations yet. <Link to="/chat/new">Begin one</Link>
            </>
          )}
        </p>
      ) : null}
    </section>
  );
}

function Entry({ thread, isChosen }: { thread: Thread; isChosen: boolean }) {
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<'rename' | 'delete'>();
  const shut = (): void => setDialog(undefined);
  const erase = useAction(
    'Deleting',
    () => remove(`/api/threads/${thread.id}`),
    () => {
      shut();
      if (isChosen) void navigate('/chat');
    },
  );
  return (
    <li className={css.entry} data-chosen={isChosen || undefined}>
      {thread.running ? <span className={css.live} role="img" aria-label="A turn is running" /> : null}
      <Link to={`/chat/${thread.id}`} aria-current={isChosen ? 'page' : undefined} title={thread.title}>
        {thread.title || 'Untitled'}
      </Link>
      <Menu>
        <Menu.Target>
          <ActionIcon
            variant="subtle"
            color="gray"
            size={24}
            mr={4}
            aria-label={`More about ${thread.title || 'this conversation'}`}
          >
            <IconDots size={14} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setDialog('rename')}>Rename</Menu.Item>
          <Menu.Item color="red" onClick={() => setDialog('delete')}>
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Rename thread={thread} opened={dialog === 'rename'} close={shut} />
      <ConfirmDelete
        what={thread.title || 'this conversation'}
        means="Everything that was said in it is erased."
        opened={dialog === 'delete'}
        close={shut}
        confirm={() => erase.mutate()}
      />
    </li>
  );
}

function Rename({ thread, opened, close }: { thread: Thread; opened: boolean; close: () => void }) {
  const [title, setTitle] = useState(thread.title);
  const rename = useAction('Renaming', () => patch(`/api/threads/${thread.id}`, { title }), close);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (title.trim()) rename.mutate();
  };
  return (
    <Modal opened={opened} onClose={close} title="Rename the conversation">
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label="Title"
            data-autofocus
            value={title}
            onChange={(event) => setTitle(event.currentTarget.value)}
          />
          <Button type="submit" disabled={!title.trim()} loading={rename.isPending}>
            Rename
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}
