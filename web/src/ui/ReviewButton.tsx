import { Button, type ButtonProps } from '@mantine/core';
import { IconUserCheck } from '@tabler/icons-react';
import { Link } from 'react-router';
import { useHeld } from '../review/useHeld';
import { t } from '../words/t';
import { changedSearch, useParamsInAddress } from './useParamsInAddress';

/** In the address of any page: the review that is open on it. */
export const REVIEW = 'review';

/** Opens a review on the page it is met on. */
export function ReviewButton({
  id,
  isQuestion = false,
  ...look
}: { id: string; isQuestion?: boolean } & Pick<ButtonProps, 'size' | 'variant'>) {
  const [params] = useParamsInAddress();
  const isHeld = useHeld().held.some(({ review }) => review.reviewId === id);
  if (isHeld)
    return (
      <Button disabled leftSection={<IconUserCheck size={14} />} {...look}>
        {t('Decided')}
      </Button>
    );
  return (
    <Button
      component={Link}
      to={{ search: changedSearch(params, { [REVIEW]: id }) }}
      leftSection={<IconUserCheck size={14} />}
      {...look}
    >
      {isQuestion ? t('Answer it') : t('Review it')}
    </Button>
  );
}
