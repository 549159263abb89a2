import { Button, Modal, NumberInput, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { post } from '../../api/client';
import type { RunDetail } from '../../api/types';
import { isNearLimit } from '../../run/limits';
import type { RunState } from '../../run/state';
import { ActButton } from '../../ui/Act';
import { ProblemNote } from '../../ui/Note';
import { useNow } from '../../ui/useNow';
import { t } from '../../words/t';

type Limits = RunDetail['limits'];

const NAMES: Record<keyof Limits, string> = {
  maxCostUsd: t('Cost, in dollars'),
  maxTotalTokens: t('Tokens'),
  maxTotalLlmCalls: t('Model calls'),
  maxTotalToolCalls: t('Tool calls'),
  maxTotalSubtasks: t('Subtasks'),
  maxWallClockMs: t('Time, in milliseconds'),
};

interface RaiseBudgetProps {
  run: RunState;
  limits: Limits;
}

/** A button to let a run use more, once it has used most of what one of its limits allows. */
export function RaiseBudget({ run, limits }: RaiseBudgetProps) {
  const [opened, { open, close }] = useDisclosure(false);
  const now = useNow();
  if (!opened && !isNearLimit(run, limits, now)) return null;
  return (
    <>
      <ActButton needs="admin" size="compact-sm" variant="light" onClick={open}>
        {t('Raise the budget')}
      </ActButton>
      <RaiseDialog run={run} limits={limits} opened={opened} close={close} />
    </>
  );
}

export function RaiseDialog({ run, limits, opened, close }: RaiseBudgetProps & { opened: boolean; close: () => void }) {
  return (
    <Modal opened={opened} onClose={close} title={t('Raise the budget')}>
      <Form runId={run.runId} limits={limits} close={close} />
    </Modal>
  );
}

function Form({ runId, limits, close }: { runId: string; limits: Limits; close: () => void }) {
  const client = useQueryClient();
  const [wanted, setWanted] = useState<Limits>(limits);
  const names = (Object.keys(NAMES) as (keyof Limits)[]).filter((name) => limits[name] !== undefined);
  const changed = Object.fromEntries(
    names.filter((name) => wanted[name] !== limits[name]).map((name) => [name, wanted[name]]),
  );
  const raise = useMutation({
    mutationFn: () => post(`/api/runs/${runId}/budget`, changed),
    onSuccess: () => {
      void client.invalidateQueries();
      close();
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    raise.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm">{t('The limits of this run, with all of its subtasks.')}</Text>
        {names.map((name) => (
          <NumberInput
            key={name}
            label={NAMES[name]}
            min={limits[name] ?? 0}
            allowDecimal={name === 'maxCostUsd'}
            value={wanted[name] ?? ''}
            onChange={(value) => setWanted({ ...wanted, [name]: Number(value) })}
          />
        ))}
        {raise.error ? <ProblemNote what={t('The budget was not raised')} error={raise.error} /> : null}
        <Button type="submit" loading={raise.isPending} disabled={Object.keys(changed).length === 0}>
          {t('Raise it')}
        </Button>
      </Stack>
    </form>
  );
}
