import { Group, Modal, SegmentedControl, Select, Stack, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { get, patch, post } from '../../api/client';
import type { Answer } from '../../api/types';
import { ActButton } from '../../ui/Act';
import { JsonField } from '../../ui/JsonField';
import { ProblemNote } from '../../ui/Note';
import { type Draft, draftOf, inputsOf, requestOf } from './form';
import { pathOf, type Schedule } from './Row';
import { Rules } from './Rules';
import { t } from '../../words/t';

/** The zone of the browser. */
const HERE = new Intl.DateTimeFormat().resolvedOptions().timeZone;

interface ScheduleDialogProps {
  /** The schedule that is changed; absent: a new one. */
  schedule?: Schedule;
  close: () => void;
}

/** A schedule, made or changed; what the server refuses is said here. */
export function ScheduleDialog({ schedule, close }: ScheduleDialogProps) {
  const client = useQueryClient();
  const [draft, setDraft] = useState(() => draftOf(schedule, HERE));
  const set = (change: Partial<Draft>): void => setDraft({ ...draft, ...change });
  const save = useMutation({
    mutationFn: () =>
      schedule
        ? patch(pathOf(schedule.name), requestOf(draft))
        : post('/api/schedules', { name: draft.name.trim(), ...requestOf(draft) }),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ['schedules'] });
      close();
    },
  });
  const isWhole = draft.name.trim() !== '' && inputsOf(draft.inputs) !== undefined;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isWhole) save.mutate();
  };
  return (
    <Modal
      opened
      onClose={close}
      size="lg"
      title={schedule ? t('Change {title}', { title: schedule.name }) : t('New schedule')}
    >
      <form onSubmit={submit}>
        <Stack>
          {schedule ? null : (
            <TextInput
              label={t('Name')}
              description={t('Letters, digits, - _ and .')}
              data-autofocus
              required
              maxLength={64}
              value={draft.name}
              onChange={(event) => set({ name: event.currentTarget.value })}
            />
          )}
          <Times draft={draft} set={set} />
          <Work draft={draft} set={set} />
          <Rules draft={draft} set={set} />
          {save.error ? <ProblemNote what={t('The schedule was not saved')} error={save.error} /> : null}
          <Group justify="flex-end">
            <ActButton needs="run" type="submit" loading={save.isPending} disabled={!isWhole}>
              {schedule ? t('Save') : t('Create the schedule')}
            </ActButton>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

export interface PartProps {
  draft: Draft;
  set: (change: Partial<Draft>) => void;
}

/** When it is due. */
function Times({ draft, set }: PartProps) {
  return (
    <>
      <SegmentedControl
        aria-label={t('When it is due')}
        data={[
          { value: 'cron', label: t('At certain times') },
          { value: 'every', label: t('At an interval') },
        ]}
        value={draft.kind}
        onChange={(kind) => set({ kind: kind === 'every' ? 'every' : 'cron' })}
      />
      {draft.kind === 'cron' ? (
        <Group grow align="start">
          <TextInput
            label={t('Pattern')}
            description={t('Minute, hour, day, month, day of the week')}
            required
            value={draft.cron}
            onChange={(event) => set({ cron: event.currentTarget.value })}
          />
          <Select
            label={t('Time zone')}
            description={t('The times are in this time zone')}
            searchable
            data={zones(draft.timezone)}
            value={draft.timezone}
            allowDeselect={false}
            onChange={(timezone) => set({ timezone: timezone ?? HERE })}
          />
        </Group>
      ) : (
        <TextInput
          label={t('Every')}
          description={t('Such as 30s, 15m, 6h or 1d')}
          required
          value={draft.every}
          onChange={(event) => set({ every: event.currentTarget.value })}
        />
      )}
    </>
  );
}

/** The zones the browser knows, and the one that is set. */
const zones = (set: string): string[] => [...new Set(['UTC', set, HERE, ...Intl.supportedValuesOf('timeZone')])];

/** The run that a schedule begins. */
function Work({ draft, set }: PartProps) {
  const { data } = useQuery({
    queryKey: ['workflows', 'schedules'],
    queryFn: ({ signal }) => get<Answer<'GET /api/workflows'>>('/api/workflows?limit=100', signal),
  });
  const saved = (data?.workflows ?? []).map(({ id, name }) => ({ value: id, label: name }));
  const isListed = draft.workflow === '' || saved.some(({ value }) => value === draft.workflow);
  const other = isListed ? [] : [{ value: draft.workflow, label: draft.workflow }];
  return (
    <>
      <Select
        label={t('Ensemble or workflow')}
        searchable
        data={[{ value: '', label: t('The ensemble') }, ...other, ...saved]}
        value={draft.workflow}
        allowDeselect={false}
        onChange={(workflow) => set({ workflow: workflow ?? '' })}
      />
      <JsonField
        label={t('Inputs')}
        description={t('As JSON; it may stay empty')}
        placeholder={'{"topic": "bees"}'}
        value={draft.inputs}
        error={inputsOf(draft.inputs) === undefined ? t('This is not a JSON object') : undefined}
        set={(inputs) => set({ inputs })}
      />
    </>
  );
}
