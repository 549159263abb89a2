import { type ReactNode, useState } from 'react';
import type { Turn } from '../../chat/state';
import type { Attached } from '../../chat/frame';
import css from './Chat.module.css';
import { SentFiles } from './FileChips';
import { t } from '../../words/t';

/** A message the server has taken whose turn has not begun. */
export interface QueuedMessage {
  turnId: string;
  content: string;
  attached: readonly Attached[];
}

interface TurnsProps {
  turns: readonly Turn[];
  queued: readonly QueuedMessage[];
  /** Turns shown before older ones are asked for, and then more each time. */
  step: number;
  children: (turn: Turn) => ReactNode;
}

/** The newest turns of a thread, and the messages that wait for theirs. */
export function Turns({ turns, queued, step, children }: TurnsProps) {
  const [shown, setShown] = useState(step);
  return (
    <>
      {turns.length > shown ? (
        <button type="button" onClick={() => setShown(shown + step)}>
          {t('Show {value} earlier turns', { value: Math.min(step, turns.length - shown) })}
        </button>
      ) : null}
      {turns.slice(-shown).map(children)}
      {queued.map(({ turnId, content, attached }) => (
        <div key={turnId} className={css.turn}>
          <div className={css.said} data-waiting>
            {content}
          </div>
          <SentFiles files={attached} />
          <div className={css.foot}>{t('Waits in the queue')}</div>
        </div>
      ))}
    </>
  );
}

/** The messages sent from here that wait for their turn, and a function that adds one. */
export function useQueued(turns: readonly Turn[]): [QueuedMessage[], (message: QueuedMessage) => void] {
  const [sent, setSent] = useState<QueuedMessage[]>([]);
  const isQueued = ({ turnId }: QueuedMessage): boolean => turns.every((turn) => turn.id !== turnId);
  const queued = sent.filter(isQueued);
  return [queued, (message) => setSent((old) => [...old.filter(isQueued), message])];
}
