import { Button, Textarea } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { IconClock } from '@tabler/icons-react';
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import { Link } from 'react-router';
import { post } from '../../api/client';
import type { Decision, Review } from '../../api/types';
import { timeoutText } from '../../run/words';
import { Diff } from '../../ui/Diff';
import { shortId } from '../../ui/format';
import { Json, parsed } from '../../ui/Json';
import { Markdown } from '../../ui/Markdown';
import { Ago, Countdown } from '../../ui/Time';
import { useAction } from '../../ui/useAction';
import { useNow } from '../../ui/useNow';
import { Question } from './Question';
import css from './Reviews.module.css';

type Mode = 'reading' | 'editing' | 'rejecting';

const SOON_MS = 60_000;

/** One review: what it is about, and the decision. */
export function OneReview({ review, decided }: { review: Review; decided: () => void }) {
  const decide = useAction('Deciding', (decision: Decision) => post(`/api/reviews/${review.reviewId}`, decision), decided);
  const send = (decision: Decision): void => {
    if (!decide.isPending) decide.mutate(decision);
  };
  return (
    <article className={css.inner}>
      <Head review={review} />
      {review.timing === 'DURING_EXECUTION'
        ? <Question review={review} send={send} isSending={decide.isPending} />
        : <Gate review={review} send={send} isSending={decide.isPending} />}
    </article>
  );
}

const TIMINGS: Record<Review['timing'], string> = {
  BEFORE_EXECUTION: 'May it start?',
  DURING_EXECUTION: 'It asks',
  AFTER_EXECUTION: 'Is this its output?',
};

function Head({ review }: { review: Review }) {
  const now = useNow();
  const { expiresAt } = review;
  return (
    <header className={css.head}>
      <h2>{review.taskName ?? 'A task'}</h2>
      <span>{TIMINGS[review.timing]}</span>
      {expiresAt ? (
        <span className={css.deadline} data-soon={Date.parse(expiresAt) - now < SOON_MS || undefined} title={`Without a decision ${timeoutText(review.onTimeout)}`}>
          <IconClock size={15} aria-hidden /><span><Countdown to={expiresAt} />, then {timeoutText(review.onTimeout)}</span>
        </span>
      ) : null}
      <p>{review.agentRole} · <Link to={`/runs/${review.runId}/conversation?turn=${review.turnId?.split('.')[0] ?? review.taskIndex}`}>run {shortId(review.runId)}</Link> · asked <Ago at={review.createdAt} /></p>
    </header>
  );
}

interface GateProps {
  review: Review;
  send: (decision: Decision) => void;
  isSending: boolean;
}

function Gate({ review, send, isSending }: GateProps) {
  const [mode, setMode] = useState<Mode>('reading');
  const [text, setText] = useState(review.taskOutput);
  const [feedback, setFeedback] = useState('');
  const isBefore = review.timing === 'BEFORE_EXECUTION';
  const edit = (): void => {
    if (!isBefore) setMode('editing');
  };
  useHotkeys([
    ['a', () => send({ decision: 'CONTINUE' })], ['x', () => send({ decision: 'EXIT_EARLY' })], ['e', edit], ['r', () => setMode('rejecting')],
  ]);
  const submit = (): void => {
    if (mode === 'editing' && text !== review.taskOutput) send({ decision: 'EDIT', revisedOutput: text });
    if (mode === 'rejecting' && feedback.trim()) send({ decision: 'REJECT', feedback });
  };
  // Escape leaves the field, not a dialog around it: the marks on the fields see to that.
  const typed = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit();
    if (event.key === 'Escape') setMode('reading');
  };
  return (
    <>
      <p className={css.about}>{review.taskDescription}</p>
      {isBefore || mode === 'editing' ? null : <Output text={review.taskOutput} />}
      {mode === 'editing' ? (
        <>
          <Textarea label="The output, as it should be" autosize minRows={6} maxRows={24} autoFocus data-mantine-stop-propagation="true" value={text} onChange={(event) => setText(event.currentTarget.value)} onKeyDown={typed} styles={{ input: { fontFamily: 'var(--mono)' } }} />
          <Diff before={review.taskOutput} after={text} />
        </>
      ) : null}
      {mode === 'rejecting' ? (
        <Textarea label="What should be different" description="The task runs again with it." autosize minRows={3} autoFocus data-mantine-stop-propagation="true" value={feedback} onChange={(event) => setFeedback(event.currentTarget.value)} onKeyDown={typed} />
      ) : null}
      <div className={css.actions}>
        {mode === 'reading' ? (
          <>
            <Button color="green" loading={isSending} onClick={() => send({ decision: 'CONTINUE' })}>Approve<kbd>A</kbd></Button>
            {isBefore ? null : <Button variant="default" onClick={edit}>Edit<kbd>E</kbd></Button>}
            <Button variant="default" onClick={() => setMode('rejecting')}>Reject<kbd>R</kbd></Button>
            <Button variant="subtle" color="red" onClick={() => send({ decision: 'EXIT_EARLY' })}>End the run here<kbd>X</kbd></Button>
          </>
        ) : (
          <Submitting mode={mode} isReady={mode === 'editing' ? text !== review.taskOutput : feedback.trim() !== ''} isSending={isSending} submit={submit} back={() => setMode('reading')} />
        )}
      </div>
    </>
  );
}

interface SubmittingProps {
  mode: Mode;
  isReady: boolean;
  isSending: boolean;
  submit: () => void;
  back: () => void;
}

function Submitting({ mode, isReady, isSending, submit, back }: SubmittingProps): ReactNode {
  return (
    <>
      <Button disabled={!isReady} loading={isSending} {...(mode === 'rejecting' ? { color: 'red' } : {})} onClick={submit}>
        {mode === 'editing' ? 'Approve as edited' : 'Reject and run again'}<kbd>Ctrl ↵</kbd>
      </Button>
      <Button variant="default" onClick={back}>Back<kbd>Esc</kbd></Button>
    </>
  );
}

function Output({ text }: { text: string }) {
  const value = parsed(text);
  return <section className={css.output} aria-label="Output">{value ? <Json value={value} openTo={4} /> : <Markdown text={text} />}</section>;
}
