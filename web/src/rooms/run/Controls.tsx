import { ActionIcon, Button, Group, Menu } from '@mantine/core';
import { useClipboard, useDisclosure } from '@mantine/hooks';
import {
  IconDots,
  IconDownload,
  IconGitFork,
  IconLink,
  IconMessageForward,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlayerStop,
  IconRefresh,
  IconSwitchHorizontal,
  IconTrash,
} from '@tabler/icons-react';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { download, post, remove } from '../../api/client';
import type { Accepted, CancelMode, RunDetail } from '../../api/types';
import type { RunState } from '../../run/state';
import { ConfirmDelete } from '../../ui/ConfirmDelete';
import { useAction } from '../../ui/useAction';
import { RepeatDialog } from './RepeatDialog';
import { Inject, SwitchModel } from './Dialogs';

const MODES: { mode: CancelMode; title: string; means: string }[] = [
  { mode: 'after_task', title: 'After the tasks under way', means: 'They finish and keep their outputs' },
  {
    mode: 'after_iteration',
    title: 'After the model calls under way',
    means: 'Their answers are kept, no more tools run',
  },
  { mode: 'now', title: 'At once', means: 'Streams are dropped and tools stopped' },
];

/** The actions on a run. */
export function Controls({ run, detail }: { run: RunState; detail: RunDetail }) {
  const path = `/api/runs/${run.runId}`;
  const active = !run.endedAt;
  const navigate = useNavigate();
  const clipboard = useClipboard();
  const [injecting, inject] = useDisclosure(false);
  const [switching, switchModel] = useDisclosure(false);
  const [deleting, confirm] = useDisclosure(false);
  const pause = useAction('Pausing', () => post(`${path}/pause`));
  const resume = useAction('Resuming', () => post(`${path}/resume`));
  const open = ({ runId }: Accepted): void => void navigate(`/runs/${runId}/graph`);
  const retry = useAction('Retrying', () => post<Accepted>(`${path}/retry`), open);
  const [repeating, setRepeating] = useState<'retry' | 'fork'>();
  const trace = useAction('Downloading', () => download(`${path}/trace`, `${run.runId}.trace.json`));
  const failed = !active && run.tasks.some((task) => task.status !== 'COMPLETED');
  const erase = useAction(
    'Deleting',
    () => remove(path),
    () => navigate('/runs'),
  );
  return (
    <Group gap={6} wrap="nowrap">
      {active && !run.paused ? (
        <Button
          size="xs"
          variant="default"
          leftSection={<IconPlayerPause size={15} />}
          loading={pause.isPending}
          onClick={() => pause.mutate()}
        >
          Pause
        </Button>
      ) : null}
      {active && run.paused ? (
        <Button
          size="xs"
          leftSection={<IconPlayerPlay size={15} />}
          loading={resume.isPending}
          onClick={() => resume.mutate()}
        >
          Resume
        </Button>
      ) : null}
      {active ? <Cancel run={run} /> : null}
      {failed ? (
        <Button
          size="xs"
          variant="default"
          leftSection={<IconRefresh size={15} />}
          loading={retry.isPending}
          title="A new run that keeps what was completed"
          onClick={() => retry.mutate()}
        >
          Retry
        </Button>
      ) : null}
      <Menu>
        <Menu.Target>
          <ActionIcon variant="default" size={30} aria-label="More about this run">
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {active ? (
            <>
              <Menu.Item leftSection={<IconMessageForward size={15} />} onClick={inject.open}>
                Tell a task something
              </Menu.Item>
              <Menu.Item leftSection={<IconSwitchHorizontal size={15} />} onClick={switchModel.open}>
                Switch the model
              </Menu.Item>
              <Menu.Divider />
            </>
          ) : null}
          <Menu.Item leftSection={<IconGitFork size={15} />} onClick={() => setRepeating('fork')}>
            Fork: a new run from here
          </Menu.Item>
          {failed ? (
            <Menu.Item leftSection={<IconRefresh size={15} />} onClick={() => setRepeating('retry')}>
              Retry with changes
            </Menu.Item>
          ) : null}
          <Menu.Item leftSection={<IconDownload size={15} />} onClick={() => trace.mutate()}>
            Download the trace
          </Menu.Item>
          <Menu.Item leftSection={<IconLink size={15} />} onClick={() => clipboard.copy(location.href)}>
            Copy the link to this page
          </Menu.Item>
          {active ? null : (
            <Menu.Item color="red" leftSection={<IconTrash size={15} />} onClick={confirm.open}>
              Delete the run
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <Inject run={run} opened={injecting} close={inject.close} />
      <SwitchModel run={run} opened={switching} close={switchModel.close} />
      {repeating ? (
        <RepeatDialog detail={detail} kind={repeating} opened close={() => setRepeating(undefined)} />
      ) : null}
      <ConfirmDelete
        what="this run"
        means="The run, its events and its outputs are erased."
        opened={deleting}
        close={confirm.close}
        confirm={() => erase.mutate()}
      />
    </Group>
  );
}

function Cancel({ run }: { run: RunState }) {
  const cancel = useAction('Cancelling', (mode: CancelMode) => post(`/api/runs/${run.runId}/cancel`, { mode }));
  const order = MODES.findIndex(({ mode }) => mode === run.cancel);
  const stronger = MODES.filter((_, position) => position > order);
  if (stronger.length === 0) return null;
  return (
    <Menu>
      <Menu.Target>
        <Button size="xs" variant="default" leftSection={<IconPlayerStop size={15} />} loading={cancel.isPending}>
          {run.cancel ? 'Stop sooner' : 'Cancel'}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Stop this run</Menu.Label>
        {stronger.map(({ mode, title, means }) => (
          <Menu.Item key={mode} {...(mode === 'now' ? { color: 'red' } : {})} onClick={() => cancel.mutate(mode)}>
            {title}
            <br />
            <small>{means}</small>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
