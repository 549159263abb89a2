import { Button, Modal, Select, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useNavigate } from 'react-router';
import { post } from '../../api/client';
import { useCapabilities } from '../../api/queries';
import type { Accepted, Body, RunDetail, TaskOverride } from '../../api/types';
import { useAction } from '../../ui/useAction';

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
    Object.entries(overrides).filter(([, { description, model: other }]) => description || other),
  );
  const edits: Body<'POST /api/runs/{id}/fork'> = {
    ...(seq === undefined ? {} : { seq }),
    ...(model ? { model } : {}),
    ...(Object.keys(inputs).length > 0 ? { inputs } : {}),
    ...(Object.keys(wanted).length > 0 ? { taskOverrides: wanted } : {}),
  };
  const begin = useAction(
    kind === 'retry' ? 'Retrying' : 'Forking',
    () => post<Accepted>(`/api/runs/${detail.runId}/${kind}`, edits),
    ({ runId }) => navigate(`/runs/${runId}/graph`),
  );
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    begin.mutate();
  };
  return (
    <Modal opened={opened} onClose={close} title={kind === 'retry' ? 'Retry this run' : 'Fork this run'}>
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm">{kept(kind, seq)} What you leave empty stays as it is.</Text>
          {Object.entries(detail.inputs).map(([name, value]) => (
            <TextInput
              key={name}
              label={name}
              placeholder={value}
              value={typed[name] ?? ''}
              onChange={(event) => setTyped({ ...typed, [name]: event.currentTarget.value })}
            />
          ))}
          <Select
            label="Model"
            placeholder={detail.model}
            clearable
            data={models.map(({ alias }) => alias)}
            value={model}
            onChange={setModel}
          />
          <TaskChange detail={detail} overrides={overrides} change={setOverrides} />
          <Button type="submit" loading={begin.isPending} data-autofocus>
            {kind === 'retry' ? 'Retry' : 'Fork'}
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
        label="Change a task"
        description={changed.length > 0 ? `Changed: ${changed.join(', ')}` : 'One that the new run has yet to begin'}
        placeholder="None"
        clearable
        searchable
        data={detail.tasks.map((each) => each.name)}
        value={name}
        onChange={setName}
      />
      {task ? (
        <>
          <Textarea
            label="What to do"
            autosize
            minRows={2}
            maxRows={12}
            value={override.description ?? task.description}
            onChange={(event) => set({ description: event.currentTarget.value })}
          />
          <Select
            label={`Model of ${task.name}`}
            placeholder={task.model ?? detail.model}
            clearable
            data={models.map(({ alias }) => alias)}
            value={override.model ?? null}
            onChange={(value) => set({ model: value })}
          />
        </>
      ) : null}
    </>
  );
}

function kept(kind: 'retry' | 'fork', seq: number | undefined): string {
  if (kind === 'retry') return 'A new run keeps the tasks that completed and does the others again.';
  return seq === undefined
    ? 'A new run goes on from where this one stands.'
    : `A new run keeps what happened before event ${seq} and goes on from there.`;
}
