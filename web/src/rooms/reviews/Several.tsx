import { Button, Checkbox, Group, Modal, Text } from '@mantine/core';
import { useState } from 'react';
import type { Review } from '../../api/types';
import { decisions } from '../../review/useHeld';
import { ActButton } from '../../ui/Act';
import css from './Reviews.module.css';
import { t } from '../../words/t';

/** Characters of an output by which it is told from others. */
const SHOWN = 300;

/** Several outputs approved at once, each of them listed before. Questions need an answer of their own. */
export function Several({ reviews, nameOf }: { reviews: Review[]; nameOf: (review: Review) => string }) {
  const [isOpen, setOpen] = useState(false);
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const open = reviews.filter(({ timing }) => timing !== 'DURING_EXECUTION');
  const wanted = open.filter(({ reviewId }) => ids.has(reviewId));
  if (open.length < 2 && !isOpen) return null;
  const toggle = (reviewId: string): void => {
    const next = new Set(ids);
    if (!next.delete(reviewId)) next.add(reviewId);
    setIds(next);
  };
  const approve = (): void => {
    for (const review of wanted) decisions.hold(review, { decision: 'CONTINUE' });
    setIds(new Set());
    setOpen(false);
  };
  return (
    <>
      <ActButton needs="review" size="compact-xs" variant="default" onClick={() => setOpen(true)}>
        {t('Approve several…')}
      </ActButton>
      <Modal opened={isOpen} onClose={() => setOpen(false)} size="lg" title={t('Approve several')}>
        <Text size="sm">{t('Choose the outputs to approve. Each can be taken back for five seconds.')}</Text>
        <ul className={css.several}>
          {open.map((review) => (
            <li key={review.reviewId}>
              <Checkbox
                checked={ids.has(review.reviewId)}
                onChange={() => toggle(review.reviewId)}
                label={`${review.taskName} · ${nameOf(review)}`}
                description={
                  review.timing === 'BEFORE_EXECUTION' ? t('May it start?') : review.taskOutput.slice(0, SHOWN)
                }
              />
            </li>
          ))}
        </ul>
        <Group justify="flex-end">
          <Button variant="default" onClick={() => setOpen(false)}>
            {t('Back')}
          </Button>
          <Button color="green" disabled={wanted.length === 0} onClick={approve}>
            {t('Approve {count}', { count: wanted.length })}
          </Button>
        </Group>
      </Modal>
    </>
  );
}
