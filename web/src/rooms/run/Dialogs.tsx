import { Button, Modal, Select, SegmentedControl, Stack, Text, Textarea } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { type FormEvent, useState } from 'react';
import { post } from '../../api/client';
import { useCapabilities } from '../../api/queries';
import { isOver } from '../../run/frame';
import type { RunState } from '../../run/state';
import { useAction } from '../../ui/useAction';

interface DialogProps {
  run: RunState;
  opened: boolean;
  close: () => void;
}

const EVERYBODY = '';

/** Words for a task's next model call. */
export function Inject({ run, opened, close, target: first = EVERYBODY }: DialogProps & { target?: string }) {
  const [content, setContent] = useState('');
  const [target, setTarget] = useState(first);
  const [priority, setPriority] = useState('NORMAL');
  const inject = useAction(
    'Telling',
    () => post(`/api/runs/${run.runId}/inject`, { content, priority, ...(target ? { target } : {}) }),
    () => {
      notifications.show({
        color: 'green',
        message: 'It is in the next model call. The conversation shows which one saw it.',
      });
      setContent('');
      close();
    },
  );
  const targets = run.tasks.filter((task) => !isOver(task.status)).map(({ name }) => ({ value: name, label: name }));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    inject.mutate();
  };
  return (
    <Modal opened={opened} onClose={close} title="Tell a task something">
      <form onSubmit={submit}>
        <Stack>
          <Textarea
            label="What it should know"
            description="It is part of the next model call, after what is under way."
            autosize
            minRows={3}
            maxRows={12}
            data-autofocus
            required
            value={content}
            onChange={(event) => setContent(event.currentTarget.value)}
          />
          <Select
            label="Who"
            data={[{ value: EVERYBODY, label: 'Every task' }, ...targets]}
            value={target}
            allowDeselect={false}
            onChange={(value) => setTarget(value ?? EVERYBODY)}
          />
          <SegmentedControl
            aria-label="Priority"
            data={[
              { value: 'LOW', label: 'Low' },
              { value: 'NORMAL', label: 'Normal' },
              { value: 'HIGH', label: 'High' },
            ]}
            value={priority}
            onChange={setPriority}
          />
          <Button type="submit" loading={inject.isPending} disabled={!content.trim()}>
            Send
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}

export function SwitchModel({ run, opened, close }: DialogProps) {
  const models = useCapabilities().data?.models ?? [];
  const [model, setModel] = useState<string | null>(null);
  const change = useAction('Switching the model', () => post(`/api/runs/${run.runId}/model`, { model }), close);
  return (
    <Modal opened={opened} onClose={close} title="Switch the model">
      <Stack>
        <Text size="sm">Every later model call of this run goes to it; calls under way are not disturbed.</Text>
        <Select
          label="Model"
          data-autofocus
          data={models.map(({ alias, provider }) => ({
            value: alias,
            label: `${alias} · ${provider}`,
            disabled: alias === run.model,
          }))}
          value={model}
          onChange={setModel}
        />
        <Button disabled={!model} loading={change.isPending} onClick={() => change.mutate()}>
          Switch
        </Button>
      </Stack>
    </Modal>
  );
}
