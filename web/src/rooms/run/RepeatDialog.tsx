import { Button, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useNavigate } from 'react-router';
import { post } from '../../api/client';
import { useCapabilities } from '../../api/queries';
import type { Accepted, Body, RunDetail } from '../../api/types';
import { useAction } from '../../ui/useAction';

interface RepeatDialogProps {
  detail: RunDetail;
  /** A retry keeps what was completed; a fork keeps the events before one, or all. */
  kind: 'retry' | 'fork';
  seq?: number;
  opened: boolean;
  close: () => void;
}

/** A new run from this one, with other inputs or another model if wanted. */
export function RepeatDialog({ detail, kind, seq, opened, close }: RepeatDialogProps) {
  const navigate = useNavigate();
  const models = useCapabilities().data?.models ?? [];
  const [model, setModel] = useState<string | null>(null);
  const [typed, setTyped] = useState<Record<string, string>>({});
  const inputs = Object.fromEntries(Object.entries(typed).filter(([, value]) => value !== ''));
  const edits: Body<'POST /api/runs/{id}/fork'> = {
    ...(seq === undefined ? {} : { seq }),
    ...(model ? { model } : {}),
    ...(Object.keys(inputs).length > 0 ? { inputs } : {}),
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
          <Button type="submit" loading={begin.isPending} data-autofocus>
            {kind === 'retry' ? 'Retry' : 'Fork'}
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}

function kept(kind: 'retry' | 'fork', seq: number | undefined): string {
  if (kind === 'retry') return 'A new run keeps the tasks that completed and does the others again.';
  return seq === undefined
    ? 'A new run goes on from where this one stands.'
    : `A new run keeps what happened before event ${seq} and goes on from there.`;
}
