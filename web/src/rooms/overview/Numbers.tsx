import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { useApprovals, useServerStatus } from '../../api/queries';
import type { RunRow } from '../../api/types';
import { useOpenReviews } from '../../review/useHeld';
import { shortError } from '../../run/words';
import { shownStatus } from '../../ui/Status';
import { useNow } from '../../ui/useNow';
import css from './Overview.module.css';
import { t } from '../../words/t';

const DAY_MS = 86_400_000;

/** The runs that are at work, wait, queue and have failed, each as a number that leads to them. */
export function Numbers({ active, failed }: { active: RunRow[]; failed: RunRow[] }) {
  const reviews = useOpenReviews().total;
  const approvals = useApprovals().data?.approvals ?? [];
  const waiting = reviews + approvals.length;
  const queued = useServerStatus().data?.queueDepth ?? 0;
  const running = active.filter((run) => shownStatus(run) === 'RUNNING');
  const paused = active.filter((run) => shownStatus(run) === 'PAUSED').length;
  const clock = useNow();
  const now = running
    .map(({ currentTask }) => currentTask?.name)
    .filter(Boolean)
    .slice(0, 2)
    .join(', ');
  const recent = failed.filter((run) => clock - Date.parse(run.startedAt) < DAY_MS).length;
  return (
    <div className={css.numbers}>
      <Figure
        to="/runs?status=RUNNING"
        name={t('Running')}
        tone={running.length > 0 ? 'running' : undefined}
        value={running.length}
      >
        {[now, ...(paused > 0 ? [t('{paused} paused', { paused })] : [])].filter(Boolean).join(', ') || t('nothing')}
      </Figure>
      <Figure
        to={reviews === 0 && approvals[0] ? `/chat/${approvals[0].thread_id}` : '/reviews'}
        name={t('Waiting for a person')}
        tone={waiting > 0 ? 'warn' : undefined}
        value={waiting}
      >
        {waitingText(reviews, approvals.length)}
      </Figure>
      <Figure to="/runs?status=ACCEPTED" name={t('In the queue')} value={queued}>
        {queued > 0 ? t('for a free slot') : t('no queue')}
      </Figure>
      <Figure
        to="/runs?status=FAILED"
        name={t('Failed in 24 hours')}
        tone={recent > 0 ? 'bad' : undefined}
        value={recent}
      >
        {failed[0]?.error ? shortError(failed[0].error) : t('none|failure')}
      </Figure>
    </div>
  );
}

function waitingText(reviews: number, approvals: number): string {
  const parts = [
    ...(reviews > 0 ? [t('{reviews} to review', { reviews })] : []),
    ...(approvals > 0 ? [t('{approvals} to allow in chat', { approvals })] : []),
  ];
  return parts.length > 0 ? parts.join(', ') : t('nothing waits');
}

function Figure({
  to,
  name,
  value,
  tone,
  children,
}: {
  to: string;
  name: string;
  value: number;
  tone?: string | undefined;
  children: ReactNode;
}) {
  return (
    <Link to={to} className={css.number} data-tone={tone}>
      <span>{name}</span>
      <strong>{value}</strong>
      <small style={{ overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap' }}>{children}</small>
    </Link>
  );
}
