import { Button, type ButtonProps } from '@mantine/core';
import { IconUserCheck } from '@tabler/icons-react';
import { Link, useSearchParams } from 'react-router';
import { useHeld } from '../review/useHeld';
import { t } from '../words/t';

/** In the address of any page: the review that is open on it. */
export const REVIEW = 'review';

/** Opens a review on the page it is met on. */
export function ReviewButton({
  id,
  isQuestion = false,
  ...look
}: { id: string; isQuestion?: boolean } & Pick<ButtonProps, 'size' | 'variant'>) {
  const [params] = useSearchParams();
  const isHeld = useHeld().held.some(({ review }) => review.reviewId === id);
  const opened = new URLSearchParams(params);
  opened.set(REVIEW, id);
  if (isHeld)
    return (
      <Button disabled leftSection={<IconUserCheck size={14} />} {...look}>
        {t('Decided')}
      </Button>
    );
  return (
    <Button component={Link} to={{ search: opened.toString() }} leftSection={<IconUserCheck size={14} />} {...look}>
      {isQuestion ? t('Answer it') : t('Review it')}
    </Button>
  );
}
