import {
  IconAlertCircle,
  IconBan,
  IconCircleCheck,
  IconCircleDashed,
  IconHourglass,
  IconLoader2,
  IconPlayerPause,
  IconPlayerTrackNext,
  type Icon,
} from '@tabler/icons-react';
import type { RunStatus, TaskStatus } from '../api/types';
import css from './Status.module.css';
import { t } from '../words/t';

export type ShownStatus = RunStatus | TaskStatus | 'PAUSED' | 'STOPPING';

const LOOKS: Record<ShownStatus, { word: string; tone: string; icon: Icon; spins?: true }> = {
  ACCEPTED: { word: t('Queued'), tone: 'warn', icon: IconHourglass },
  PENDING: { word: t('Pending'), tone: 'idle', icon: IconCircleDashed },
  RUNNING: { word: t('Running'), tone: 'running', icon: IconLoader2, spins: true },
  WAITING: { word: t('Waiting'), tone: 'warn', icon: IconHourglass },
  PAUSED: { word: t('Paused'), tone: 'warn', icon: IconPlayerPause },
  STOPPING: { word: t('Stopping'), tone: 'warn', icon: IconLoader2, spins: true },
  COMPLETED: { word: t('Completed'), tone: 'good', icon: IconCircleCheck },
  FAILED: { word: t('Failed'), tone: 'bad', icon: IconAlertCircle },
  CANCELLED: { word: t('Cancelled'), tone: 'idle', icon: IconBan },
  REJECTED: { word: t('Rejected'), tone: 'bad', icon: IconBan },
  SKIPPED: { word: t('Skipped'), tone: 'idle', icon: IconPlayerTrackNext },
};

/** A status in a word, as people read it. */
export const statusText = (status: ShownStatus): string => LOOKS[status].word;

export const statusTone = (status: ShownStatus): string => LOOKS[status].tone;

export function StatusPill({ status }: { status: ShownStatus }) {
  const { word, tone, icon: Icon, spins } = LOOKS[status];
  return (
    <span className={`${css.pill} ${css[tone]}`}>
      <Icon size={13} stroke={2.2} aria-hidden className={spins ? css.spin : undefined} />
      {word}
    </span>
  );
}

export function StatusIcon({ status, size = 16 }: { status: ShownStatus; size?: number }) {
  const { word, tone, icon: Icon, spins } = LOOKS[status];
  return (
    <span className={`${css.icon} ${css[tone]}`} role="img" aria-label={word} title={word}>
      <Icon size={size} stroke={2} className={spins ? css.spin : undefined} />
    </span>
  );
}

/** The status of a run as it is shown: paused, stopping and waiting runs have one of their own. */
export function shownStatus(run: {
  status: RunStatus;
  paused?: boolean;
  cancelRequested?: boolean;
  waitingFor?: string | undefined;
}): ShownStatus {
  if (run.status !== 'RUNNING' && run.status !== 'ACCEPTED') return run.status;
  if (run.cancelRequested) return 'STOPPING';
  if (run.paused) return 'PAUSED';
  return run.status === 'RUNNING' && run.waitingFor === 'review' ? 'WAITING' : run.status;
}
