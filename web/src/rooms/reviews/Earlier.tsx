import type { Review } from '../../api/types';
import { useEarlierReviews } from '../../review/earlier';
import { decisionText } from '../../run/words';
import { Diff } from '../../ui/Diff';
import css from './Reviews.module.css';
import { t } from '../../words/t';

/** The feedback on the output before this one, and what has changed since. */
export function Earlier({ review }: { review: Review }) {
  const earlier = useEarlierReviews(review);
  const last = earlier.at(-1);
  if (!last) return null;
  return (
    <section className={css.earlier} aria-label={t('Earlier decisions')}>
      <h3>{t('Earlier decisions')}</h3>
      {earlier.map(({ reviewId, decision, by, feedback }) => (
        <p key={reviewId}>
          {decision && by ? decisionText(decision, by) : t('Reviewed')}
          {feedback ? `: “${feedback}”` : ''}
        </p>
      ))}
      <Diff
        before={last.output}
        after={review.taskOutput}
        name={t('Changes since then')}
        same={t('It is the same text as before.')}
      />
    </section>
  );
}
