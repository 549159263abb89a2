import { Button, Group, Modal, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { post, remove } from '../../api/client';
import type { RunRow } from '../../api/types';
import { ActButton } from '../../ui/Act';
import { shortId } from '../../ui/format';
import { runName } from '../../ui/runName';
import { shownStatus, StatusPill } from '../../ui/Status';
import css from './Runs.module.css';
import { plural, t, type Sentence } from '../../words/t';

interface Deed {
  /** The word on the button. */
  verb: string;
  /** The question before it is done, for one run and for several. */
  asks: [Sentence, Sentence];
  /** Its effect on each run. */
  means: string;
  isFor: (run: RunRow) => boolean;
  act: (run: RunRow) => Promise<unknown>;
  color?: string;
}

const isActive = ({ durationMs }: RunRow): boolean => durationMs === null;

const DEEDS: Deed[] = [
  {
    verb: t('Cancel'),
    asks: ['Cancel {n} run?', 'Cancel {n} runs?'],
    means: t('Tasks under way finish and keep their outputs; no other starts.'),
    isFor: (run) => isActive(run) && !run.cancelRequested,
    act: ({ runId }) => post(`/api/runs/${runId}/cancel`, { mode: 'after_task' }),
  },
  {
    verb: t('Retry'),
    asks: ['Retry {n} run?', 'Retry {n} runs?'],
    means: t('A new run of each keeps what was completed and does the rest again.'),
    isFor: (run) => !isActive(run) && run.status !== 'COMPLETED',
    act: ({ runId }) => post(`/api/runs/${runId}/retry`),
  },
  {
    verb: t('Delete'),
    asks: ['Delete {n} run?', 'Delete {n} runs?'],
    means: t('The runs, their events and their outputs are erased. This cannot be undone.'),
    isFor: (run) => !isActive(run),
    act: ({ runId }) => remove(`/api/runs/${runId}`),
    color: 'red',
  },
];

/** The actions on the selected runs. Each lists what it will be done to before it is done. */
export function Bulk({ selected, clear }: { selected: RunRow[]; clear: () => void }) {
  const [deed, setDeed] = useState<Deed>();
  if (selected.length === 0) return null;
  return (
    <div className={css.bulk} role="group" aria-label={t('Selected runs')}>
      <strong role="status">{t('{count} selected', { count: selected.length })}</strong>
      {DEEDS.map((each) => {
        const count = selected.filter(each.isFor).length;
        return (
          <ActButton
            key={each.verb}
            needs="run"
            size="xs"
            variant="default"
            disabled={count === 0}
            onClick={() => setDeed(each)}
          >
            {each.verb} {count}…
          </ActButton>
        );
      })}
      {selected.length === 2 ? (
        <Button
          component={Link}
          to={`/compare?a=${selected.at(-1)?.runId ?? ''}&b=${selected[0]?.runId ?? ''}`}
          size="xs"
          variant="default"
        >
          {t('Compare them')}
        </Button>
      ) : null}
      <Button size="xs" variant="subtle" onClick={clear}>
        {t('Clear the selection')}
      </Button>
      {deed ? <Confirm deed={deed} selected={selected} close={() => setDeed(undefined)} done={clear} /> : null}
    </div>
  );
}

interface ConfirmProps {
  deed: Deed;
  selected: RunRow[];
  close: () => void;
  done: () => void;
}

function Confirm({ deed, selected, close, done }: ConfirmProps) {
  const { verb, asks, means, isFor, act, color } = deed;
  const runs = selected.filter(isFor);
  const left = selected.length - runs.length;
  const client = useQueryClient();
  const all = useMutation({
    // One after another: the server is not asked for hundreds of things at once.
    mutationFn: async () => {
      const failures: string[] = [];
      for (const run of runs)
        await act(run).catch((error: Error) => failures.push(`${runName(run)}: ${error.message}`));
      return failures;
    },
    onSuccess: (failures) => {
      void client.invalidateQueries();
      if (failures.length > 0)
        notifications.show({
          color: 'red',
          title: t('{failed} of {all} failed', { failed: failures.length, all: runs.length }),
          message: failures.slice(0, 5).join('\n'),
          autoClose: 12_000,
        });
      close();
      done();
    },
  });
  return (
    <Modal opened onClose={close} size="lg" title={plural(runs.length, ...asks)}>
      <Text size="sm">{means}</Text>
      <ul className={css.listed} aria-label={t('The runs')}>
        {runs.map((run) => (
          <li key={run.runId}>
            <StatusPill status={shownStatus(run)} />
            <span>{runName(run)}</span>
            <code>{shortId(run.runId)}</code>
          </li>
        ))}
      </ul>
      {left > 0 ? (
        <Text size="sm">
          {plural(left, 'One of the selected runs is left as it is.', '{n} of the selected runs are left as they are.')}
        </Text>
      ) : null}
      <Group justify="flex-end" mt="md">
        <Button variant="default" data-autofocus onClick={close}>
          {t('Back')}
        </Button>
        <Button {...(color ? { color } : {})} loading={all.isPending} onClick={() => all.mutate()}>
          {verb} {runs.length}
        </Button>
      </Group>
    </Modal>
  );
}
