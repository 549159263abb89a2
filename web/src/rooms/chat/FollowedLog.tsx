import { Button } from '@mantine/core';
import { IconArrowDown } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { Following } from '../../ui/useFollowing';
import css from './Chat.module.css';
import { t } from '../../words/t';

interface FollowedLogProps {
  following: Following;
  /** The classes of the box that scrolls and of what is in it. */
  look: { box: string | undefined; inner: string | undefined };
  children: ReactNode;
}

/** A chat that stays at its last word, with a way back there for a reader who scrolled up. */
export function FollowedLog({ following, look, children }: FollowedLogProps) {
  const { box, inner, scrolled, isFollowing, follow } = following;
  return (
    <div
      className={look.box}
      ref={box}
      onScroll={scrolled}
      tabIndex={0}
      role="log"
      aria-label={t('Chat')}
      aria-live="off"
    >
      <div className={look.inner} ref={inner}>
        {children}
      </div>
      {isFollowing ? null : (
        <div className={css.latest}>
          <Button size="xs" radius="xl" leftSection={<IconArrowDown size={14} />} onClick={follow}>
            {t('Jump to latest')}
          </Button>
        </div>
      )}
    </div>
  );
}
