import { ActionIcon, Tooltip } from '@mantine/core';
import { IconPencil, IconRefresh } from '@tabler/icons-react';
import { useRefusal } from '../../api/me';
import type { Item, Turn } from '../../chat/state';
import { CopyText } from '../../ui/CopyText';
import css from './Chat.module.css';
import { t } from '../../words/t';

/** The actions on a turn that is over. */
export interface TurnDeeds {
  /** Puts the message into the composer, to be changed and sent again. */
  edit: (turn: Turn) => void;
  /** Sends the same message again. */
  again: (turn: Turn) => void;
}

/** The words of the answer, without calls and notes. */
export function answerOf({ items }: Turn): string {
  return items
    .filter((item): item is Extract<Item, { kind: 'text' }> => item.kind === 'text')
    .map(({ text }) => text)
    .join('\n\n');
}

/** Copies, changes and repeats what was said. The turns before stay as they are. */
export function TurnActions({ turn, deeds }: { turn: Turn; deeds: TurnDeeds | undefined }) {
  const refusal = useRefusal('run');
  const answer = answerOf(turn);
  return (
    <div className={css.deeds}>
      {answer ? <CopyText text={answer} what={t('the answer')} /> : null}
      {deeds && turn.message ? (
        <>
          <Tooltip label={t('Edit the message and send it again')}>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t('Edit the message and send it again')}
              disabled={refusal !== undefined}
              onClick={() => deeds.edit(turn)}
            >
              <IconPencil size={15} />
            </ActionIcon>
          </Tooltip>
          <Tooltip label={t('Regenerate the answer')}>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t('Regenerate the answer')}
              disabled={refusal !== undefined || !turn.isOver}
              onClick={() => deeds.again(turn)}
            >
              <IconRefresh size={15} />
            </ActionIcon>
          </Tooltip>
        </>
      ) : null}
    </div>
  );
}
