import { Button, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useNavigate } from 'react-router';
import { printed } from '../../ui/format';
import { post } from '../../api/client';
import { useCapabilities } from '../../api/queries';
import type { Accepted, Body, RunDetail, TaskOverride } from '../../api/types';
import { useAction } from '../../ui/useAction';
import { OutputChange } from './OutputChange';
import { TaskChange } from './TaskChange';
import { t } from '../../words/t';

interface RepeatDialogProps {
  detail: RunDetail;
  /** A retry keeps what was completed; a fork keeps the events before one, or all. */
  kind: 'retry' | 'fork';
  seq?: number;
  /** The task whose output is to be edited first. */
  editing?: string;
  opened: boolean;
  close: () => void;
}

/** A new run from this one, with other inputs, another model, other prompts or other outputs if wanted. */
export function RepeatDialog({ detail, kind, seq, editing, opened, close }: RepeatDialogProps) {
  const navigate = useNavigate();
  const models = useCapabilities().data?.models ?? [];
  const [model, setModel] = useState<string | null>(null);
  const [typed, setTyped] = useState<Record<string, string>>({});
  const [overrides, setOverrides] = useState<Record<string, TaskOverride>>({});
  const [outputs, setOutputs] = useState<Record<string, string>>({});
  const inputs = Object.fromEntries(Object.entries(typed).filter(([, value]) => value !== ''));
  // A text that was emptied is no wish for an empty one.
  const wanted = Object.fromEntries(
    Object.entries(overrides).filter(
      ([, { description, model: other, maxIterations }]) => description || other || maxIterations,
    ),
  );
  const edits: Body<'POST /api/runs/{id}/fork'> = {
    ...(seq === undefined ? {} : { seq }),
    ...(model ? { model } : {}),
    ...(Object.keys(inputs).length > 0 ? { inputs } : {}),
    ...(Object.keys(wanted).length > 0 ? { taskOverrides: wanted } : {}),
    ...(Object.keys(outputs).length > 0 ? { outputs } : {}),
  };
  const begin = useAction(
    kind === 'retry' ? t('Retrying') : t('Forking'),
    () => post<Accepted>(`/api/runs/${detail.runId}/${kind}`, edits),
    ({ runId }) => navigate(`/runs/${runId}/graph`),
  );
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    begin.mutate();
  };
  const output = <OutputChange detail={detail} outputs={outputs} change={setOutputs} first={editing} />;
  return (
    <Modal opened={opened} onClose={close} title={kind === 'retry' ? t('Retry this run') : t('Fork this run')}>
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm">
            {t('{value} Fields left empty stay as they are.', {
              value: kept(kind, seq, Object.keys(outputs).length > 0),
            })}
          </Text>
          {editing === undefined ? null : output}
          {Object.entries(detail.inputs).map(([name, value]) => (
            <TextInput
              key={name}
              label={name}
              placeholder={printed(value)}
              value={typed[name] ?? ''}
              onChange={(event) => setTyped({ ...typed, [name]: event.currentTarget.value })}
            />
          ))}
          <Select
            label={t('Model')}
            placeholder={detail.model}
            clearable
            data={models.map(({ alias }) => alias)}
            value={model}
            onChange={setModel}
          />
          <TaskChange detail={detail} overrides={overrides} change={setOverrides} />
          {editing === undefined ? output : null}
          <Button type="submit" loading={begin.isPending} data-autofocus={editing === undefined || undefined}>
            {kind === 'retry' ? t('Retry') : t('Fork')}
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}

function kept(kind: 'retry' | 'fork', seq: number | undefined, isEdited: boolean): string {
  if (kind === 'retry') return t('A new run keeps the tasks that completed and does the others again.');
  if (seq === undefined && isEdited)
    return t('A new run keeps what happened before the first task that reads the edited output.');
  return seq === undefined
    ? t('A new run goes on from where this one stands.')
    : t('A new run keeps what happened before event {seq} and goes on from there.', { seq });
}
