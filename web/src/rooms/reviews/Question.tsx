import { Textarea } from '@mantine/core';
import { type KeyboardEvent, useEffect, useState } from 'react';
import { useSettled } from '../../review/useHeld';
import { ActButton } from '../../ui/Act';
import { useDraft } from '../../ui/useDraft';
import { Ending } from './Ending';
import type { DecidingProps } from './OneReview';
import css from './Reviews.module.css';
import { t } from '../../words/t';

/** A question of a task to a person; the answer goes to the model. A letter is a part of it, never a shortcut. */
export function Question({ review, send, writing }: DecidingProps) {
  const [{ text }, setDraft] = useDraft(review.reviewId, { text: '' });
  const [isEnding, setEnding] = useState(false);
  const isSettled = useSettled();
  const options = review.options ?? [];
  const isWriting = isEnding || text !== '';
  useEffect(() => {
    writing?.(isWriting);
    return () => writing?.(false);
  }, [writing, isWriting]);
  const answer = (revisedOutput: string): void => send({ decision: 'EDIT', revisedOutput });
  const isReady = isSettled && text.trim() !== '';
  const typed = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && isReady) answer(text);
    if (event.key === 'Escape') event.currentTarget.blur();
  };
  return (
    <>
      <p className={css.question}>{review.prompt ?? review.taskDescription}</p>
      {options.length > 0 ? (
        <div className={css.options}>
          {options.map((option) => (
            <ActButton needs="review" key={option} variant="light" disabled={!isSettled} onClick={() => answer(option)}>
              {option}
            </ActButton>
          ))}
        </div>
      ) : null}
      <Textarea
        label={options.length > 0 ? t('Or say something else') : t('Your answer')}
        autosize
        minRows={3}
        maxRows={24}
        autoFocus
        data-autofocus
        data-mantine-stop-propagation="true"
        value={text}
        onChange={(event) => setDraft({ text: event.currentTarget.value })}
        onKeyDown={typed}
      />
      {isEnding ? (
        <Ending end={() => send({ decision: 'EXIT_EARLY' })} back={() => setEnding(false)} />
      ) : (
        <div className={css.actions}>
          <ActButton needs="review" disabled={!isReady} onClick={() => answer(text)}>
            {t('Answer')}
            <kbd>Ctrl ↵</kbd>
          </ActButton>
          <ActButton
            needs="review"
            variant="default"
            disabled={!isSettled}
            onClick={() => send({ decision: 'CONTINUE' })}
          >
            {t('Continue without an answer')}
          </ActButton>
          <ActButton needs="review" variant="subtle" color="red" disabled={!isSettled} onClick={() => setEnding(true)}>
            {t('End the run here')}
          </ActButton>
        </div>
      )}
    </>
  );
}
