import { Button } from '@mantine/core';
import { IconArrowDown } from '@tabler/icons-react';
import type { Following } from '../../ui/useFollowing';
import css from './Chat.module.css';

/** The way back to the last word, for a reader who went up. */
export function Latest({ isFollowing, follow }: Pick<Following, 'isFollowing' | 'follow'>) {
  return isFollowing ? null : (
    <div className={css.latest}>
      <Button size="xs" radius="xl" leftSection={<IconArrowDown size={14} />} onClick={follow}>
        Jump to latest
      </Button>
    </div>
  );
}
