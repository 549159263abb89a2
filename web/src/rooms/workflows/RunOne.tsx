import { Button, Modal, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { type FormEvent, useState } from 'react';
import { post } from '../../api/client';
import type { Accepted } from '../../api/types';
import { printed } from '../../ui/format';
import { useAction } from '../../ui/useAction';
import { aloneRequest, inputNames, type Pinned, readNames } from '../../workflow/alone';
import { titleOf } from '../../workflow/graph';
import { useEditor } from './useEditor';
import { t } from '../../words/t';

const NOTHING: Pinned = { outputs: {}, inputs: {} };

/** Runs the selected task alone, on outputs of others that are pinned: those of the watched run, or written here. */
export function RunOne({ close }: { close: () => void }) {
  const { id, graph, editing, watched, address } = useEditor();
  const task = editing.selected[0] ?? '';
  const [kept, keep] = useLocalStorage<Pinned>({
    key: `consort.pinned.${id ?? 'new'}`,
    defaultValue: NOTHING,
    getInitialValueInEffect: false,
  });
  const reads = readNames(graph, task);
  const asks = inputNames(graph, task);
  const [outputs, setOutputs] = useState(() => ({
    ...kept.outputs,
    ...Object.fromEntries(
      (watched.run?.tasks ?? [])
        .filter(({ name, output }) => reads.includes(name) && output !== undefined)
        .map(({ name, output }) => [name, output ?? '']),
    ),
  }));
  const [inputs, setInputs] = useState(kept.inputs);
  const start = useAction(
    t('Starting the run'),
    () => post<Accepted>('/api/runs', aloneRequest(graph, task, { outputs, inputs })),
    ({ runId }) => {
      keep({ outputs, inputs });
      address.set({ run: runId, version: undefined });
      close();
    },
  );
  const missing = asks.filter((name) => !inputs[name] && graph.inputs[name] === undefined);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (missing.length === 0) start.mutate();
  };
  return (
    <Modal opened onClose={close} title={t("Run '{task}' alone", { task: titleOf(graph, task) })} size="lg">
      <form onSubmit={submit}>
        <Stack>
          {reads.length > 0 ? (
            <Text size="sm">
              {t('These outputs stand in for the tasks before it, and are kept for the next time.')}
            </Text>
          ) : null}
          {reads.map((name) => (
            <Textarea
              key={name}
              label={t("Output of '{name}'", { name })}
              autosize
              minRows={3}
              maxRows={10}
              value={outputs[name] ?? ''}
              onChange={(event) => setOutputs({ ...outputs, [name]: event.currentTarget.value })}
            />
          ))}
          {asks.map((name) => (
            <TextInput
              key={name}
              label={name}
              withAsterisk={graph.inputs[name] === undefined}
              placeholder={graph.inputs[name] === undefined ? t('needed') : printed(graph.inputs[name])}
              value={inputs[name] ?? ''}
              onChange={(event) => setInputs({ ...inputs, [name]: event.currentTarget.value })}
            />
          ))}
          <Button type="submit" loading={start.isPending} disabled={missing.length > 0} data-autofocus>
            {t('Run this task')}
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}
