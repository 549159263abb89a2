import { ActionIcon, CloseButton } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay, IconPlayerTrackNext, IconPlayerTrackPrev } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { type Replay } from '../../run/replay';
import { REPLAY_MAX } from '../../run/useReplay';
import { duration } from '../../ui/format';
import { ownerText } from './events/about';
import css from './Run.module.css';
import { number, t } from '../../words/t';

/** Time each event is shown while it plays. */
const PLAY_MS = 250;
/** A long run plays in about this many steps. */
const PLAY_STEPS = 400;

interface ReplayBarProps {
  replay: Replay;
  at: number;
  /** Events the run has by now. */
  total: number;
  go: (seq: number) => void;
  close: () => void;
}

/** Goes through a run event by event; everything above and below shows it as it was then. */
export function ReplayBar({ replay, at, total, go, close }: ReplayBarProps) {
  const [isPlaying, setPlaying] = useState(false);
  const last = replay.length - 1;
  const seq = Math.min(at, last);
  const step = Math.max(1, Math.ceil(replay.length / PLAY_STEPS));
  const isMoving = isPlaying && seq < last;
  useEffect(() => {
    if (!isMoving) return undefined;
    const timer = setTimeout(() => go(Math.min(last, seq + step)), PLAY_MS);
    return () => clearTimeout(timer);
  }, [isMoving, seq, last, step, go]);
  const run = replay.at(seq);
  const frame = replay.frame(seq);
  const since = frame ? Date.parse(frame.at) - Date.parse(run.acceptedAt || frame.at) : 0;
  const play = (): void => {
    if (seq >= last) go(0);
    setPlaying(!isMoving);
  };
  return (
    <section className={css.replay} aria-label={t('Replay')}>
      <ActionIcon variant="default" aria-label={t('Previous event')} disabled={seq <= 0} onClick={() => go(seq - 1)}>
        <IconPlayerTrackPrev size={15} />
      </ActionIcon>
      <ActionIcon variant="default" aria-label={isMoving ? t('Stop playing') : t('Play')} onClick={play}>
        {isMoving ? <IconPlayerPause size={15} /> : <IconPlayerPlay size={15} />}
      </ActionIcon>
      <ActionIcon variant="default" aria-label={t('Next event')} disabled={seq >= last} onClick={() => go(seq + 1)}>
        <IconPlayerTrackNext size={15} />
      </ActionIcon>
      <input
        type="range"
        aria-label={t('Event')}
        aria-valuetext={frame ? `${seq}: ${frame.type}` : undefined}
        min={0}
        max={last}
        value={seq}
        onChange={(event) => go(Number(event.currentTarget.value))}
      />
      <span className={css.replayed} role="status">
        {t('Event {seq} of {last}', { seq: number(seq), last: number(last) })} · +{duration(since)} · {frame?.type}
        {frame ? ` ${ownerText(run, frame)}` : ''}
        {total > REPLAY_MAX ? ` · ${t('the first {count} only', { count: number(REPLAY_MAX) })}` : ''}
      </span>
      <CloseButton aria-label={t('End the replay')} onClick={close} />
    </section>
  );
}
