import { Button, Textarea } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { type KeyboardEvent, useState } from 'react';
import type { Decision, Review } from '../../api/types';
import css from './Reviews.module.css';

interface QuestionProps {
  review: Review;
  send: (decision: Decision) => void;
  isSending: boolean;
}

/** A question a task asks a person: the answer is what the model is told. */
export function Question({ review, send, isSending }: QuestionProps) {
  const [text, setText] = useState('');
  const options = review.options ?? [];
  const answer = (revisedOutput: string): void => send({ decision: 'EDIT', revisedOutput });
  useHotkeys([
    ...options.slice(0, 9).map((option, position): [string, () => void] => [String(position + 1), () => answer(option)]),
    ['a', () => send({ decision: 'CONTINUE' })], ['x', () => send({ decision: 'EXIT_EARLY' })],
  ]);
  const typed = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && text.trim()) answer(text);
  };
  return (
    <>
      <p className={css.question}>{review.prompt ?? review.taskDescription}</p>
      {options.length > 0 ? (
        <div className={`${css.options} ${css.actions}`} style={{ position: 'static', padding: 0, background: 'none' }}>
          {options.map((option, position) => (
            <Button key={option} variant="light" onClick={() => answer(option)}>{option}{position < 9 ? <kbd>{position + 1}</kbd> : null}</Button>
          ))}
        </div>
      ) : null}
      <Textarea label={options.length > 0 ? 'Or say something else' : 'Your answer'} autosize minRows={3} value={text} onChange={(event) => setText(event.currentTarget.value)} onKeyDown={typed} />
      <div className={css.actions}>
        <Button disabled={!text.trim()} loading={isSending} onClick={() => answer(text)}>Answer<kbd>Ctrl ↵</kbd></Button>
        <Button variant="default" onClick={() => send({ decision: 'CONTINUE' })}>Just go on<kbd>A</kbd></Button>
        <Button variant="subtle" color="red" onClick={() => send({ decision: 'EXIT_EARLY' })}>End the run here<kbd>X</kbd></Button>
      </div>
    </>
  );
}
