import { Button, Textarea } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { useRefusal } from '../../api/me';
import { useSettled } from '../../review/useHeld';
import { ActButton } from '../../ui/Act';
import { Diff } from '../../ui/Diff';
import { Json, parsed } from '../../ui/Json';
import { Markdown } from '../../ui/Markdown';
import { useDraft } from '../../ui/useDraft';
import { useKeys } from '../../ui/useKeys';
import { Earlier } from './Earlier';
import { Ending } from './Ending';
import type { DecidingProps } from './OneReview';
import css from './Reviews.module.css';
import { t } from '../../words/t';

type Mode = 'reading' | 'editing' | 'rejecting';

/** A review before or after a task: it is approved, changed, rejected, or the run ends. */
export function OutputReview({ review, send, writing }: DecidingProps) {
  const here = useRef<HTMLDivElement>(null);
  const [{ mode, text, feedback }, setDraft] = useDraft(review.reviewId, {
    mode: 'reading' as Mode,
    text: review.taskOutput,
    feedback: '',
  });
  const [isEnding, setEnding] = useState(false);
  const refusal = useRefusal('review');
  const isSettled = useSettled();
  const isBefore = review.timing === 'BEFORE_EXECUTION';
  const isReading = mode === 'reading' && !isEnding;
  const enter = (next: Mode): void => setDraft({ mode: next });
  const approve = (): void => send({ decision: 'CONTINUE' });
  const end = (): void => setEnding(true);
  useKeys(
    here,
    isReading && isSettled && refusal === undefined
      ? { a: approve, r: () => enter('rejecting'), x: end, ...(isBefore ? {} : { e: () => enter('editing') }) }
      : {},
  );
  useEffect(() => {
    writing?.(!isReading);
    return () => writing?.(false);
  }, [writing, isReading]);
  const isReady = mode === 'editing' ? text !== review.taskOutput : feedback.trim() !== '';
  const submit = (): void => {
    if (isReady)
      send(mode === 'editing' ? { decision: 'EDIT', revisedOutput: text } : { decision: 'REJECT', feedback });
  };
  // Escape leaves the field, not a dialog around it: the marks on the fields see to that.
  const typed = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit();
    if (event.key === 'Escape') enter('reading');
  };
  return (
    <>
      <p className={css.about} ref={here}>
        {review.taskDescription}
      </p>
      {review.truncated ? (
        <p className={css.cut}>
          <IconAlertTriangle size={15} aria-hidden />
          {t('This output was cut at the output limit of the model: it is not complete.')}
        </p>
      ) : null}
      {isBefore || mode === 'editing' ? null : <Output text={review.taskOutput} />}
      {isBefore || mode === 'editing' ? null : <Earlier review={review} />}
      {mode === 'editing' ? (
        <>
          <Textarea
            label={t('The output, as it should be')}
            autosize
            minRows={6}
            maxRows={24}
            autoFocus
            data-mantine-stop-propagation="true"
            value={text}
            onChange={(event) => setDraft({ text: event.currentTarget.value })}
            onKeyDown={typed}
            styles={{ input: { fontFamily: 'var(--mono)' } }}
          />
          <Diff before={review.taskOutput} after={text} />
        </>
      ) : null}
      {mode === 'rejecting' ? (
        <Textarea
          label={t('Feedback')}
          description={t('The task runs again with it.')}
          autosize
          minRows={3}
          autoFocus
          data-mantine-stop-propagation="true"
          value={feedback}
          onChange={(event) => setDraft({ feedback: event.currentTarget.value })}
          onKeyDown={typed}
        />
      ) : null}
      {isEnding ? (
        <Ending end={() => send({ decision: 'EXIT_EARLY' })} back={() => setEnding(false)} />
      ) : (
        <div className={css.actions}>
          {isReading ? (
            <>
              <ActButton needs="review" color="green" disabled={!isSettled} onClick={approve}>
                {t('Approve')}
                <kbd>A</kbd>
              </ActButton>
              {isBefore ? null : (
                <ActButton needs="review" variant="default" disabled={!isSettled} onClick={() => enter('editing')}>
                  {t('Edit')}
                  <kbd>E</kbd>
                </ActButton>
              )}
              <ActButton needs="review" variant="default" disabled={!isSettled} onClick={() => enter('rejecting')}>
                {t('Reject')}
                <kbd>R</kbd>
              </ActButton>
              <ActButton needs="review" variant="subtle" color="red" disabled={!isSettled} onClick={end}>
                {t('End the run here')}
                <kbd>X</kbd>
              </ActButton>
            </>
          ) : (
            <Submitting mode={mode} isReady={isReady && isSettled} submit={submit} back={() => enter('reading')} />
          )}
        </div>
      )}
    </>
  );
}

interface SubmittingProps {
  mode: Mode;
  isReady: boolean;
  submit: () => void;
  back: () => void;
}

function Submitting({ mode, isReady, submit, back }: SubmittingProps): ReactNode {
  return (
    <>
      <ActButton
        needs="review"
        disabled={!isReady}
        {...(mode === 'rejecting' ? { color: 'red' } : {})}
        onClick={submit}
      >
        {mode === 'editing' ? t('Approve as edited') : t('Reject and run again')}
        <kbd>Ctrl ↵</kbd>
      </ActButton>
      <Button variant="default" onClick={back}>
        {t('Back')}
        <kbd>Esc</kbd>
      </Button>
    </>
  );
}

function Output({ text }: { text: string }) {
  const value = parsed(text);
  return (
    <section className={css.output} aria-label={t('Output')}>
      {value ? <Json value={value} openTo={4} /> : <Markdown text={text} />}
    </section>
  );
}
