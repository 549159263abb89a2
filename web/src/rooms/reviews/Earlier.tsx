import type { Review } from '../../api/types';
import { useEarlierReviews } from '../../review/earlier';
import { decisionText } from '../../run/words';
import { Diff } from '../../ui/Diff';
import css from './Reviews.module.css';

/** The feedback on the output before this one, and what has changed since. */
export function Earlier({ review }: { review: Review }) {
  const earlier = useEarlierReviews(review);
  const last = earlier.at(-1);
  if (!last) return null;
  return (
    <section className={css.earlier} aria-label="Before this">
      <h3>Before this</h3>
      {earlier.map(({ reviewId, decision, by, feedback }) => (
        <p key={reviewId}>
          {decision && by ? decisionText(decision, by) : 'Reviewed'}
          {feedback ? `: “${feedback}”` : ''}
        </p>
      ))}
      <Diff
        before={last.output}
        after={review.taskOutput}
        name="What has changed since"
        same="It is the same text as before."
      />
    </section>
  );
}
