import { Button } from '@mantine/core';
import { IconExternalLink, IconX } from '@tabler/icons-react';
import { Link } from 'react-router';
import { post } from '../../api/client';
import type { RunDetail } from '../../api/types';
import { runActivity } from '../../run/activity';
import type { RunState } from '../../run/state';
import { count, shortId } from '../../ui/format';
import { ReviewButton } from '../../ui/ReviewButton';
import { shownStatus, StatusPill } from '../../ui/Status';
import { Countdown } from '../../ui/Time';
import { useAction } from '../../ui/useAction';
import css from './Editor.module.css';
import { t } from '../../words/t';
import { Said } from '../../words/Said';

interface WatchedRunProps {
  run: RunState;
  detail: RunDetail;
  version: number | undefined;
  close: () => void;
}

/** The run whose states the tasks show. */
export function WatchedRun({ run, detail, version, close }: WatchedRunProps) {
  const { text, tone, until, reviewId } = runActivity(run, detail);
  const stop = useAction(t('Cancelling'), () => post(`/api/runs/${run.runId}/cancel`, { mode: 'now' }));
  const done = run.tasks.filter((task) => task.status === 'COMPLETED' && !task.isManager).length;
  const ran = Number(detail.tags['workflowVersion'] ?? 0);
  return (
    <div className={css.strip} data-tone="run">
      <StatusPill
        status={shownStatus({
          ...run,
          cancelRequested: run.cancel !== undefined,
          waitingFor: reviewId ? 'review' : undefined,
        })}
      />
      <div>
        <strong data-tone={tone} role="status">
          {text}
          {until ? (
            <>
              {' '}
              · <Countdown to={until} />
            </>
          ) : null}
        </strong>
        <p>
          <Said
            of={ran ? 'Run {link} of version {ran}' : 'Run {link} of what the canvas showed'}
            link={<Link to={`/runs/${run.runId}/graph`}>{shortId(run.runId)}</Link>}
            ran={ran}
          />
          {ran && version && ran !== version ? t('; the canvas shows version {version}', { version }) : ''} ·{' '}
          {t('{done} of {all} tasks', { done, all: run.tasks.filter((task) => !task.isManager).length })} ·{' '}
          {t('{value} tokens', { value: count(run.totals.inputTokens + run.totals.outputTokens) })}
        </p>
      </div>
      <span className={css.choices}>
        {reviewId ? <ReviewButton id={reviewId} size="xs" variant="light" /> : null}
        {run.endedAt ? null : (
          <Button size="xs" variant="default" loading={stop.isPending} onClick={() => stop.mutate()}>
            {t('Stop')}
          </Button>
        )}
        <Button
          component={Link}
          to={`/runs/${run.runId}/graph`}
          size="xs"
          variant="default"
          leftSection={<IconExternalLink size={14} />}
        >
          {t('Open the run')}
        </Button>
        <Button size="xs" variant="default" leftSection={<IconX size={14} />} onClick={close}>
          {t('Stop watching')}
        </Button>
      </span>
    </div>
  );
}
