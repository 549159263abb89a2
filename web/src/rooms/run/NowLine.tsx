import { Button, Group, Modal, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { Link } from 'react-router';
import { post } from '../../api/client';
import { useCapabilities } from '../../api/queries';
import type { RunDetail } from '../../api/types';
import { type Activity, runActivity } from '../../run/activity';
import type { RunState } from '../../run/state';
import { ActButton } from '../../ui/Act';
import { ReviewButton } from '../../ui/ReviewButton';
import { isForPeers } from '../../ui/runName';
import { Countdown, Duration } from '../../ui/Time';
import { useAction } from '../../ui/useAction';
import { SwitchModel } from './Dialogs';
import { RaiseBudget } from './RaiseBudget';
import { RepeatDialog } from './RepeatDialog';
import css from './Run.module.css';
import { t } from '../../words/t';
import { Said } from '../../words/Said';

interface NowLineProps {
  run: RunState;
  detail: RunDetail;
  /** Whether it is shown as it was, when nothing can be done about it. */
  isReplayed: boolean;
}

/** The state of the run in a line: its work or what it waits for, since when, and the actions that help. */
export function NowLine({ run, detail, isReplayed }: NowLineProps) {
  const activity = runActivity(run, isReplayed ? undefined : detail);
  const { text, tone, until, since } = activity;
  return (
    <div className={css.now}>
      <span className={css.nowText} data-tone={tone} role="status">
        {text}
        {until ? (
          <>
            {' '}
            · <Countdown to={until} />
          </>
        ) : null}
        <Attempt activity={activity} />
      </span>
      {since && !run.endedAt ? (
        <span className={css.since}>
          <Said of="for {time}" time={<Duration from={since} />} />
        </span>
      ) : null}
      {isReplayed ? null : <Actions run={run} detail={detail} activity={activity} />}
    </div>
  );
}

function Actions({ run, detail, activity }: { run: RunState; detail: RunDetail; activity: Activity }) {
  const { reviewId, model } = activity;
  const isQuestion = reviewId !== undefined && run.reviews.get(reviewId)?.timing === 'DURING_EXECUTION';
  const decide = reviewId ? (
    <ReviewButton id={reviewId} isQuestion={isQuestion} size="compact-sm" variant="light" />
  ) : null;
  if (isForPeers(run.runId)) return decide;
  return (
    <>
      {decide}
      {model === undefined || run.endedAt ? null : (
        <>
          <Switch run={run} />
          <GiveUp run={run} activity={activity} />
        </>
      )}
      {run.endedAt ? null : <RaiseBudget run={run} limits={detail.limits} />}
      {run.paused && !run.endedAt ? <Resume runId={run.runId} /> : null}
      {run.endedAt ? <AtTheEnd run={run} detail={detail} /> : null}
    </>
  );
}

/** The attempt it is at, where there was more than one or may be more. */
function Attempt({ activity: { model, attempt } }: { activity: Activity }) {
  const retries = useCapabilities().data?.models.find(({ alias }) => alias === model)?.retries;
  if (attempt === undefined || retries === undefined || (attempt === 1 && retries === 0)) return null;
  return t(' · try {attempt} of {value}', { attempt, value: Math.max(attempt, retries + 1) });
}

function Switch({ run }: { run: RunState }) {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <ActButton needs="run" size="compact-sm" variant="light" onClick={open}>
        {t('Switch the model')}
      </ActButton>
      <SwitchModel run={run} opened={opened} close={close} />
    </>
  );
}

/** Ends the waiting for a model, once it is known what follows. */
function GiveUp({ run, activity }: { run: RunState; activity: Activity }) {
  const [opened, { open, close }] = useDisclosure(false);
  const task = run.tasks[(activity.taskIndex ?? 0) - 1]?.name;
  const giveUp = useAction(
    t('Giving up'),
    () => post(`/api/runs/${run.runId}/give-up`, task === undefined ? {} : { task }),
    close,
  );
  return (
    <>
      <ActButton needs="run" size="compact-sm" variant="light" onClick={open}>
        {t('Give up this call')}
      </ActButton>
      <Modal opened={opened} onClose={close} title={t('Give up this call?')}>
        <Text size="sm">
          {t(
            '{model} is not asked again for this call. Its fallback is asked, or the model you switched to; without one, the task fails.',
            {
              model: activity.model ?? '',
            },
          )}
        </Text>
        <Group justify="flex-end" mt="md">
          <Button variant="default" onClick={close}>
            {t('Keep waiting')}
          </Button>
          <ActButton needs="run" color="red" loading={giveUp.isPending} onClick={() => giveUp.mutate()}>
            {t('Give up')}
          </ActButton>
        </Group>
      </Modal>
    </>
  );
}

function Resume({ runId }: { runId: string }) {
  const resume = useAction(t('Resuming'), () => post(`/api/runs/${runId}/resume`));
  return (
    <ActButton needs="run" size="compact-sm" variant="light" loading={resume.isPending} onClick={() => resume.mutate()}>
      {t('Go on')}
    </ActButton>
  );
}

/** The way to the answer of a run that is over, or to the reason there is none. */
function AtTheEnd({ run, detail }: { run: RunState; detail: RunDetail }) {
  const [isRetrying, setRetrying] = useState(false);
  const failed = run.tasks.find(({ status }) => status === 'FAILED');
  const hasOutput = run.tasks.some(({ output }) => output !== undefined);
  return (
    <>
      {hasOutput ? (
        <Button component={Link} to={`/runs/${run.runId}/outputs`} size="compact-sm" variant="light">
          {run.status === 'COMPLETED' ? t('Read the answer') : t('Read the outputs so far')}
        </Button>
      ) : null}
      {failed ? (
        <Button
          component={Link}
          to={`/runs/${run.runId}/conversation?turn=${failed.index}`}
          size="compact-sm"
          variant="light"
        >
          {t('See where it failed')}
        </Button>
      ) : null}
      {run.breach ? (
        <span className={css.since}>{t('A retry keeps what is done, and has a budget of its own.')}</span>
      ) : null}
      {run.status === 'FAILED' ? (
        <ActButton needs="run" size="compact-sm" variant="light" onClick={() => setRetrying(true)}>
          {t('Retry with…')}
        </ActButton>
      ) : null}
      {isRetrying ? <RepeatDialog detail={detail} kind="retry" opened close={() => setRetrying(false)} /> : null}
    </>
  );
}
