import { Modal, Skeleton } from '@mantine/core';
import { useOpenReviews } from '../../review/useHeld';
import { ProblemNote } from '../../ui/Note';
import { REVIEW } from '../../ui/ReviewButton';
import { useParamsInAddress } from '../../ui/useParamsInAddress';
import { OneReview } from './OneReview';
import { NoReview } from './Reviews';
import css from './Reviews.module.css';
import { t } from '../../words/t';

/** A review decided where it was met, without leaving the page. */
export default function ReviewDialog({ id }: { id: string }) {
  const [, change] = useParamsInAddress();
  const { reviews, error } = useOpenReviews();
  const review = reviews?.find(({ reviewId }) => reviewId === id);
  const close = (): void => change({ [REVIEW]: undefined });
  return (
    <Modal opened onClose={close} size="xl" title={t('Review')} classNames={{ content: css.dialog ?? '' }}>
      {error ? <ProblemNote what={t('The review could not be read')} error={error} /> : null}
      {review ? (
        <OneReview key={id} review={review} decided={close} />
      ) : reviews ? (
        <NoReview isGone />
      ) : error ? null : (
        <Skeleton height={160} />
      )}
    </Modal>
  );
}
