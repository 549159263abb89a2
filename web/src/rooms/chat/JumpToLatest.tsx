import { Button } from '@mantine/core';
import { IconArrowDown } from '@tabler/icons-react';
import type { Following } from '../../ui/useFollowing';
import css from './Chat.module.css';
import { t } from '../../words/t';

/** A button that goes to the end, for a reader who scrolled up. */
export function JumpToLatest({ isFollowing, follow }: Pick<Following, 'isFollowing' | 'follow'>) {
  return isFollowing ? null : (
    <div className={css.latest}>
      <Button size="xs" radius="xl" leftSection={<IconArrowDown size={14} />} onClick={follow}>
        {t('Jump to latest')}
      </Button>
    </div>
  );
}
