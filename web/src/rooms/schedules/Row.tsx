import { Menu } from '@mantine/core';
import { IconDots, IconPencil, IconPlayerPause, IconPlayerPlay, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { post, remove } from '../../api/client';
import type { Answer } from '../../api/types';
import { ActButton, ActIcon, ActItem } from '../../ui/Act';
import { ConfirmDelete } from '../../ui/ConfirmDelete';
import { printed, shortId } from '../../ui/format';
import { Ago } from '../../ui/Time';
import { useAction } from '../../ui/useAction';
import catalog from '../catalog/Catalog.module.css';
import { Next } from './Next';
import { ScheduleDialog } from './ScheduleDialog';
import css from './Schedules.module.css';
import { Said } from '../../words/Said';
import { t } from '../../words/t';

export type Schedule = Answer<'GET /api/schedules'>['schedules'][number];
type Last = NonNullable<Schedule['last']>;

export const pathOf = (name: string): string => `/api/schedules/${encodeURIComponent(name)}`;

export function Row({ schedule }: { schedule: Schedule }) {
  const { name, cron, every, timezone, workflow, inputs, paused, source, next, last, warnings = [] } = schedule;
  return (
    <li className={css.row}>
      <div className={css.what}>
        <h2>
          <span>{name}</span>
          {paused ? (
            <span className={catalog.chip} data-tone="warn">
              {t('paused')}
            </span>
          ) : null}
          {source === 'config' ? (
            <span className={catalog.chip} title={t('It is in the configuration: change it there.')}>
              {t('from the file')}
            </span>
          ) : null}
        </h2>
        <p>
          {cron === null ? t('every {span}', { span: every ?? '' }) : <code>{cron}</code>}
          {cron === null ? null : <span translate="no"> {timezone}</span>}
        </p>
        <p className={css.soft}>
          {workflow === null ? t('The ensemble') : <Said of="Workflow {name}" name={<strong>{workflow}</strong>} />}
          {Object.entries(inputs).map(([input, value]) => (
            <span key={input} className={css.input} translate="no">
              {input}: {printed(value)}
            </span>
          ))}
        </p>
        {warnings.map((warning) => (
          <p key={warning} className={css.bad}>
            {warning}
          </p>
        ))}
      </div>
      <Next times={next} isPaused={paused} name={name} zone={cron === null ? undefined : timezone} />
      <div className={css.last}>
        <h3>{t('Last')}</h3>
        {last ? <Outcome last={last} /> : <p className={css.soft}>{t('Not due yet')}</p>}
      </div>
      <Actions schedule={schedule} />
    </li>
  );
}

const OUTCOMES: Record<Last['status'], { text: string; tone: string }> = {
  started: { text: t('started a run'), tone: 'good' },
  skipped: { text: t('skipped: the previous run was still active'), tone: 'warn' },
  missed: { text: t('missed: no server was running'), tone: 'warn' },
  failed: { text: t('no run could start'), tone: 'bad' },
};

function Outcome({ last: { at, runId, status, error } }: { last: Last }) {
  const { text, tone } = OUTCOMES[status];
  return (
    <>
      <p>
        <span className={catalog.chip} data-tone={tone}>
          {text}
        </span>{' '}
        <Ago at={at} />
      </p>
      {runId ? (
        <p>
          <Link to={`/runs/${runId}`}>{t('run {id}', { id: shortId(runId) })}</Link>
        </p>
      ) : null}
      {error ? <p className={css.bad}>{error}</p> : null}
    </>
  );
}

function Actions({ schedule }: { schedule: Schedule }) {
  const { name, paused, source } = schedule;
  const navigate = useNavigate();
  const [shown, setShown] = useState<'change' | 'delete'>();
  const path = pathOf(name);
  const turn = useAction(paused ? t('Resuming') : t('Pausing'), () => post(`${path}/${paused ? 'resume' : 'pause'}`));
  const trigger = useAction(
    t('Starting the run'),
    () => post<{ runId: string }>(`${path}/trigger`),
    ({ runId }) => void navigate(`/runs/${runId}/graph`),
  );
  const erase = useAction(
    t('Deleting'),
    () => remove(path),
    () => setShown(undefined),
  );
  const fixed = source === 'config' ? t('It is in the configuration: change it there.') : undefined;
  return (
    <div className={css.actions}>
      <ActButton
        needs="run"
        size="xs"
        variant="default"
        loading={trigger.isPending}
        aria-label={t('Run now: {name}', { name })}
        onClick={() => trigger.mutate()}
      >
        {t('Run now')}
      </ActButton>
      <ActIcon
        needs="run"
        variant="default"
        size={30}
        loading={turn.isPending}
        aria-label={paused ? t('Resume {name}', { name }) : t('Pause {name}', { name })}
        title={paused ? t('Resume') : t('Pause')}
        onClick={() => turn.mutate()}
      >
        {paused ? <IconPlayerPlay size={16} /> : <IconPlayerPause size={16} />}
      </ActIcon>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActIcon needs="run" variant="subtle" color="gray" size={30} aria-label={t('More about {name}', { name })}>
            <IconDots size={16} />
          </ActIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {fixed ? <Menu.Label>{fixed}</Menu.Label> : null}
          <Menu.Item component={Link} to={`/runs?${new URLSearchParams({ tag: `schedule:${name}` })}`}>
            {t('Its runs')}
          </Menu.Item>
          <ActItem
            needs="run"
            disabled={fixed !== undefined}
            title={fixed}
            leftSection={<IconPencil size={15} />}
            onClick={() => setShown('change')}
          >
            {t('Change')}
          </ActItem>
          <ActItem
            needs="run"
            color="red"
            disabled={fixed !== undefined}
            title={fixed}
            leftSection={<IconTrash size={15} />}
            onClick={() => setShown('delete')}
          >
            {t('Delete')}
          </ActItem>
        </Menu.Dropdown>
      </Menu>
      {shown === 'change' ? <ScheduleDialog schedule={schedule} close={() => setShown(undefined)} /> : null}
      <ConfirmDelete
        what={name}
        means={t('It starts no more runs. Its earlier runs stay.')}
        opened={shown === 'delete'}
        close={() => setShown(undefined)}
        confirm={() => erase.mutate()}
      />
    </div>
  );
}
