import { Button, Checkbox, Modal, Select, SegmentedControl, Stack, Text, Textarea } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { type FormEvent, useState } from 'react';
import { post, Problem } from '../../api/client';
import { useCapabilities } from '../../api/queries';
import { isOver } from '../../run/frame';
import type { RunState } from '../../run/state';
import { useAction } from '../../ui/useAction';
import { t } from '../../words/t';

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
    t('Telling'),
    () => post(`/api/runs/${run.runId}/inject`, { content, priority, ...(target ? { target } : {}) }),
    () => {
      notifications.show({
        color: 'green',
        message: t('It is in the next model call. The conversation shows which one saw it.'),
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
    <Modal opened={opened} onClose={close} title={t('Tell a task something')}>
      <form onSubmit={submit}>
        <Stack>
          <Textarea
            label={t('Message')}
            description={t('It is part of the next model call, after what is under way.')}
            autosize
            minRows={3}
            maxRows={12}
            data-autofocus
            required
            value={content}
            onChange={(event) => setContent(event.currentTarget.value)}
          />
          <Select
            label={t('To')}
            data={[{ value: EVERYBODY, label: t('Every task') }, ...targets]}
            value={target}
            allowDeselect={false}
            onChange={(value) => setTarget(value ?? EVERYBODY)}
          />
          <SegmentedControl
            aria-label={t('Priority')}
            data={[
              { value: 'LOW', label: t('Low') },
              { value: 'NORMAL', label: t('Normal') },
              { value: 'HIGH', label: t('High') },
            ]}
            value={priority}
            onChange={setPriority}
          />
          <Button type="submit" loading={inject.isPending} disabled={!content.trim()}>
            {t('Send')}
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}

/** A run that waits for no model at that moment has nothing to give up. */
function unlessNoneWaits(error: unknown): void {
  if (!(error instanceof Problem && error.status === 409)) throw error;
}

export function SwitchModel({ run, opened, close }: DialogProps) {
  const models = useCapabilities().data?.models ?? [];
  const [model, setModel] = useState<string | null>(null);
  const [isHasty, setHasty] = useState(false);
  const change = useAction(
    t('Switching the model'),
    async () => {
      await post(`/api/runs/${run.runId}/model`, { model });
      if (isHasty) await post(`/api/runs/${run.runId}/give-up`).catch(unlessNoneWaits);
    },
    close,
  );
  return (
    <Modal opened={opened} onClose={close} title={t('Switch the model')}>
      <Stack>
        <Text size="sm">{t('Every later model call of this run goes to it.')}</Text>
        <Select
          label={t('Model')}
          data-autofocus
          data={models.map(({ alias, provider }) => ({
            value: alias,
            label: `${alias} · ${provider}`,
            disabled: alias === run.model,
          }))}
          value={model}
          onChange={setModel}
        />
        <Checkbox
          label={t('Give up the calls under way, and ask it instead')}
          checked={isHasty}
          onChange={(event) => setHasty(event.currentTarget.checked)}
        />
        <Button disabled={!model} loading={change.isPending} onClick={() => change.mutate()}>
          {t('Switch')}
        </Button>
      </Stack>
    </Modal>
  );
}
