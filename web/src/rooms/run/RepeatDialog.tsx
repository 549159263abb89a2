import { Button, Modal, Select, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useNavigate } from 'react-router';
import { printed } from '../../ui/format';
import { post } from '../../api/client';
import { useCapabilities } from '../../api/queries';
import type { Accepted, Body, RunDetail, TaskOverride } from '../../api/types';
import { useAction } from '../../ui/useAction';
import { t } from '../../words/t';

interface RepeatDialogProps {
  detail: RunDetail;
  /** A retry keeps what was completed; a fork keeps the events before one, or all. */
  kind: 'retry' | 'fork';
  seq?: number;
  opened: boolean;
  close: () => void;
}

/** A new run from this one, with other inputs, another model or other prompts if wanted. */
export function RepeatDialog({ detail, kind, seq, opened, close }: RepeatDialogProps) {
  const navigate = useNavigate();
  const models = useCapabilities().data?.models ?? [];
  const [model, setModel] = useState<string | null>(null);
  const [typed, setTyped] = useState<Record<string, string>>({});
  const [overrides, setOverrides] = useState<Record<string, TaskOverride>>({});
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
  return (
    <Modal opened={opened} onClose={close} title={kind === 'retry' ? t('Retry this run') : t('Fork this run')}>
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm">{t('{value} What you leave empty stays as it is.', { value: kept(kind, seq) })}</Text>
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
          <Button type="submit" loading={begin.isPending} data-autofocus>
            {kind === 'retry' ? t('Retry') : t('Fork')}
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}

interface TaskChangeProps {
  detail: RunDetail;
  overrides: Record<string, TaskOverride>;
  change: (overrides: Record<string, TaskOverride>) => void;
}

/** Another prompt or model for a task that the new run has yet to begin. */
function TaskChange({ detail, overrides, change }: TaskChangeProps) {
  const models = useCapabilities().data?.models ?? [];
  const [name, setName] = useState<string | null>(null);
  const task = detail.tasks.find((each) => each.name === name);
  const override = overrides[name ?? ''] ?? {};
  const set = (changed: TaskOverride): void => {
    const fields = Object.entries({ ...override, ...changed }).filter(([, value]) => value !== null);
    const { [name ?? '']: _old, ...others } = overrides;
    change(fields.length > 0 ? { ...others, [name ?? '']: Object.fromEntries(fields) } : others);
  };
  const changed = Object.keys(overrides);
  return (
    <>
      <Select
        label={t('Change a task')}
        description={
          changed.length > 0
            ? t('Changed: {names}', { names: changed.join(', ') })
            : t('A task that the new run has not begun')
        }
        placeholder={t('None')}
        clearable
        searchable
        data={detail.tasks.map((each) => each.name)}
        value={name}
        onChange={setName}
      />
      {task ? (
        <>
          <Textarea
            label={t('What to do')}
            autosize
            minRows={2}
            maxRows={12}
            value={override.description ?? task.description}
            onChange={(event) => set({ description: event.currentTarget.value })}
          />
          <Select
            label={t('Model of {name}', { name: task.name })}
            placeholder={task.model ?? detail.model}
            clearable
            data={models.map(({ alias }) => alias)}
            value={override.model ?? null}
            onChange={(value) => set({ model: value })}
          />
          <TextInput
            label={t('Rounds at most')}
            placeholder={t('As configured')}
            inputMode="numeric"
            value={override.maxIterations ?? ''}
            onChange={(event) => set({ maxIterations: Number(event.currentTarget.value.replace(/\D/g, '')) || null })}
          />
        </>
      ) : null}
    </>
  );
}

function kept(kind: 'retry' | 'fork', seq: number | undefined): string {
  if (kind === 'retry') return t('A new run keeps the tasks that completed and does the others again.');
  return seq === undefined
    ? t('A new run goes on from where this one stands.')
    : t('A new run keeps what happened before event {seq} and goes on from there.', { seq });
}
