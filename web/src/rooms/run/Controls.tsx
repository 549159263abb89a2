import { ActionIcon, Group, Menu } from '@mantine/core';
import { useClipboard, useDisclosure } from '@mantine/hooks';
import {
  IconArrowsDiff,
  IconCoin,
  IconDots,
  IconDownload,
  IconGitFork,
  IconLink,
  IconMessageForward,
  IconPlayerPause,
  IconPlayerPlay,
  IconRefresh,
  IconSwitchHorizontal,
  IconTrash,
} from '@tabler/icons-react';
import { useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { download, post, remove } from '../../api/client';
import type { Accepted, RunDetail } from '../../api/types';
import type { RunState } from '../../run/state';
import { ActButton, ActItem } from '../../ui/Act';
import { ConfirmDelete } from '../../ui/ConfirmDelete';
import { useAction } from '../../ui/useAction';
import { Cancel } from './Cancel';
import { RaiseDialog } from './RaiseBudget';
import { RepeatDialog } from './RepeatDialog';
import { Inject, SwitchModel } from './Dialogs';
import { t } from '../../words/t';

/** The actions on a run. */
export function Controls({ run, detail }: { run: RunState; detail: RunDetail }) {
  const path = `/api/runs/${run.runId}`;
  const active = !run.endedAt;
  const navigate = useNavigate();
  const clipboard = useClipboard();
  const [injecting, inject] = useDisclosure(false);
  const [switching, switchModel] = useDisclosure(false);
  const [raising, raise] = useDisclosure(false);
  const [deleting, confirm] = useDisclosure(false);
  const pause = useAction(t('Pausing'), () => post(`${path}/pause`));
  const resume = useAction(t('Resuming'), () => post(`${path}/resume`));
  const open = ({ runId }: Accepted): void => void navigate(`/runs/${runId}/graph`);
  const retry = useAction(t('Retrying'), () => post<Accepted>(`${path}/retry`), open);
  const [repeating, setRepeating] = useState<'retry' | 'fork'>();
  const trace = useAction(t('Downloading'), () => download(`${path}/trace`, `${run.runId}.trace.json`));
  const failed = !active && run.tasks.some((task) => task.status !== 'COMPLETED');
  const erase = useAction(
    t('Deleting'),
    () => remove(path),
    () => navigate('/runs'),
  );
  return (
    <Group gap={6} wrap="nowrap">
      {active && !run.paused ? (
        <ActButton
          needs="run"
          size="xs"
          variant="default"
          leftSection={<IconPlayerPause size={15} />}
          loading={pause.isPending}
          onClick={() => pause.mutate()}
        >
          {t('Pause')}
        </ActButton>
      ) : null}
      {active && run.paused ? (
        <ActButton
          needs="run"
          size="xs"
          leftSection={<IconPlayerPlay size={15} />}
          loading={resume.isPending}
          onClick={() => resume.mutate()}
        >
          {t('Resume')}
        </ActButton>
      ) : null}
      {active ? <Cancel run={run} /> : null}
      {failed ? (
        <ActButton
          needs="run"
          size="xs"
          variant="default"
          leftSection={<IconRefresh size={15} />}
          loading={retry.isPending}
          title={t('A new run that keeps what was completed')}
          onClick={() => retry.mutate()}
        >
          {t('Retry')}
        </ActButton>
      ) : null}
      <Menu>
        <Menu.Target>
          <ActionIcon variant="default" size={30} aria-label={t('More about this run')}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {active ? (
            <>
              <ActItem needs="run" leftSection={<IconMessageForward size={15} />} onClick={inject.open}>
                {t('Tell a task something')}
              </ActItem>
              <ActItem needs="run" leftSection={<IconSwitchHorizontal size={15} />} onClick={switchModel.open}>
                {t('Switch the model')}
              </ActItem>
              {Object.keys(detail.limits).length > 0 ? (
                <ActItem needs="admin" leftSection={<IconCoin size={15} />} onClick={raise.open}>
                  {t('Raise the budget')}
                </ActItem>
              ) : null}
              <Menu.Divider />
            </>
          ) : null}
          <ActItem needs="run" leftSection={<IconGitFork size={15} />} onClick={() => setRepeating('fork')}>
            {t('Fork: a new run from here')}
          </ActItem>
          {failed ? (
            <ActItem needs="run" leftSection={<IconRefresh size={15} />} onClick={() => setRepeating('retry')}>
              {t('Retry with…')}
            </ActItem>
          ) : null}
          <Menu.Item component={Link} to={compareWith(detail)} leftSection={<IconArrowsDiff size={15} />}>
            {detail.retryOf || detail.forkedFrom
              ? t('Compare with the run it came from')
              : t('Compare with another run')}
          </Menu.Item>
          <Menu.Item leftSection={<IconDownload size={15} />} onClick={() => trace.mutate()}>
            {t('Download the trace')}
          </Menu.Item>
          <Menu.Item leftSection={<IconLink size={15} />} onClick={() => clipboard.copy(location.href)}>
            {t('Copy the link to this page')}
          </Menu.Item>
          {active ? null : (
            <ActItem needs="run" color="red" leftSection={<IconTrash size={15} />} onClick={confirm.open}>
              {t('Delete the run')}
            </ActItem>
          )}
        </Menu.Dropdown>
      </Menu>
      <Inject run={run} opened={injecting} close={inject.close} />
      <SwitchModel run={run} opened={switching} close={switchModel.close} />
      <RaiseDialog run={run} limits={detail.limits} opened={raising} close={raise.close} />
      {repeating ? (
        <RepeatDialog detail={detail} kind={repeating} opened close={() => setRepeating(undefined)} />
      ) : null}
      <ConfirmDelete
        what={t('this run')}
        means={t('The run, its events and its outputs are erased.')}
        opened={deleting}
        close={confirm.close}
        confirm={() => erase.mutate()}
      />
    </Group>
  );
}

/** The comparison with the run it was made of, which comes first, or with one that is chosen there. */
function compareWith({ runId, retryOf, forkedFrom }: RunDetail): string {
  const before = retryOf ?? forkedFrom?.runId;
  return before ? `/compare?a=${before}&b=${runId}` : `/compare?a=${runId}`;
}
