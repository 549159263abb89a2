import { Modal, TextInput, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Fragment, type KeyboardEvent, useState } from 'react';
import { useNavigate } from 'react-router';
import { get, Problem } from '../api/client';
import { key } from '../api/key';
import { useRuns } from '../api/queries';
import type { Answer } from '../api/types';
import { RAIL } from './pages';
import css from './Palette.module.css';
import { type Entry, type Hit, hitEntries, matching, runEntry, threadEntry, workflowEntry } from './palette';
import { t } from '../words/t';

/** Runs that are looked through here; the server's search finds the others. */
const RUNS = 200;
const PAUSE_MS = 150;

/** A field that goes to anything and does the usual things. */
export default function Palette({ close }: { close: () => void }) {
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const shown = matching(useEntries(typed), typed);
  const chosen = Math.min(at, shown.length - 1);
  const run = (entry: Entry | undefined): void => {
    if (!entry) return;
    close();
    if (typeof entry.act === 'string') void navigate(entry.act);
    else entry.act();
  };
  const pressed = (event: KeyboardEvent): void => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined && shown.length > 0) setAt((chosen + by + shown.length) % shown.length);
    else if (event.key === 'Enter') run(shown[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Modal
      opened
      onClose={close}
      title={t('Go to anything')}
      classNames={{ header: 'visually-hidden' }}
      withCloseButton={false}
      padding={0}
      size="lg"
      yOffset="12vh"
      centered={false}
    >
      <TextInput
        data-autofocus
        variant="unstyled"
        size="md"
        px="md"
        leftSection={<IconSearch size={17} />}
        role="combobox"
        aria-label={t('Go to anything')}
        aria-expanded={shown.length > 0}
        aria-controls="palette"
        aria-activedescendant={shown.length > 0 ? `palette-${chosen}` : undefined}
        placeholder={t('A page, a run, a chat, an action')}
        value={typed}
        onChange={(event) => {
          setTyped(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={pressed}
      />
      <div className={css.list} id="palette" role={shown.length > 0 ? 'listbox' : 'status'} aria-label={t('Results')}>
        {shown.map((entry, position) => (
          <Fragment key={`${entry.group}${entry.id}`}>
            {entry.group === shown[position - 1]?.group ? null : (
              <div className={css.group} role="presentation">
                {t(entry.group)}
              </div>
            )}
            <div
              id={`palette-${position}`}
              role="option"
              tabIndex={-1}
              aria-selected={position === chosen}
              className={css.entry}
              ref={position === chosen ? intoView : undefined}
              onMouseMove={() => setAt(position)}
              onClick={() => run(entry)}
              onKeyDown={pressed}
            >
              <span>{entry.title}</span>
              <small>{entry.note}</small>
            </div>
          </Fragment>
        ))}
        {shown.length === 0 ? <p className={css.none}>{t('Nothing was found with these words.')}</p> : null}
      </div>
    </Modal>
  );
}

const intoView = (element: HTMLElement | null): void => element?.scrollIntoView({ block: 'nearest' });

/** Everything there is to go to; what the words are searched in on the server follows the typing. */
function useEntries(typed: string): Entry[] {
  const [words] = useDebouncedValue(typed.trim(), PAUSE_MS);
  const runs = useRuns(`limit=${RUNS}`).data?.runs ?? [];
  const query = words ? `?q=${encodeURIComponent(words)}` : '';
  const threads = useQuery({
    queryKey: ['threads', 'palette', words],
    queryFn: ({ signal }) => get<Answer<'GET /api/threads'>>(`/api/threads${query}`, signal),
  }).data?.threads;
  const workflows = useQuery({
    queryKey: ['workflows', 'palette'],
    queryFn: ({ signal }) => get<Answer<'GET /api/workflows'>>('/api/workflows?limit=100', signal),
  }).data?.workflows;
  const hits = useQuery({
    queryKey: ['search', words],
    queryFn: async ({ signal }) => {
      try {
        return (await get<{ results: Hit[] }>(`/api/search${query}`, signal)).results;
      } catch (error) {
        // A server without a search finds nothing more.
        if (error instanceof Problem && error.status === 404) return [];
        throw error;
      }
    },
    enabled: words !== '',
  }).data;
  const listed = [
    ...useActions(),
    ...runs.map(runEntry),
    ...(threads ?? []).map(threadEntry),
    ...(workflows ?? []).map(workflowEntry),
  ];
  return [...listed, ...hitEntries(hits ?? [], listed)];
}

function useActions(): Entry[] {
  const { setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const other = useComputedColorScheme('light') === 'dark' ? 'light' : 'dark';
  return [
    ...RAIL.map(({ to, name }): Entry => ({ id: to, group: 'Go to', title: name, act: to })),
    { id: 'run', group: 'Actions', title: t('New run'), note: t('Start a run'), act: '/runs/new' },
    { id: 'chat', group: 'Actions', title: t('New chat'), note: t('Begin a chat'), act: '/chat/new' },
    { id: 'workflow', group: 'Actions', title: t('New workflow'), note: t('Draw a workflow'), act: '/workflows/new' },
    { id: 'compare', group: 'Actions', title: t('Compare two runs'), act: '/compare' },
    {
      id: 'colours',
      group: 'Actions',
      title: other === 'dark' ? t('Switch to dark colours') : t('Switch to light colours'),
      act: () => setColorScheme(other),
    },
    ...(key.current() === null
      ? []
      : [{ id: 'out', group: 'Actions' as const, title: t('Sign out, in all tabs'), act: () => key.signOut() }]),
  ];
}
