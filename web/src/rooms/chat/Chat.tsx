import { ActionIcon, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconFolder, IconPencilPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useParams } from 'react-router';
import { get } from '../../api/client';
import { useApprovals } from '../../api/queries';
import type { Answer } from '../../api/types';
import { HeadingLevel } from '../../ui/headings';
import { ProblemNote } from '../../ui/Note';
import { useTitle } from '../../ui/Page';
import css from './Chat.module.css';
import { Entry } from './Entry';
import { Memory } from './Memory';
import { NewThread, OneThread } from './OneThread';
import { shelved, usePlaces } from './places';
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
  const asking = new Set(useApprovals().data?.approvals.map(({ thread_id }) => thread_id));
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
                <Entry
                  key={thread.id}
                  thread={thread}
                  isChosen={thread.id === chosen}
                  asks={asking.has(thread.id)}
                  places={places}
                />
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
