import { Button } from '@mantine/core';
import { useState } from 'react';
import { Json, parsed } from './Json';
import css from './Text.module.css';
import { number, t } from '../words/t';

/** Characters shown before more are asked for. */
const SHOWN = 4_000;

/** A text of any length, as a tree when it is JSON. */
export function Text({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  const value = text.length < 400_000 ? parsed(text) : undefined;
  if (value) return <Json value={value} />;
  const isLong = text.length > SHOWN && !all;
  return (
    <>
      <pre className={css.text}>{isLong ? text.slice(0, SHOWN) : text}</pre>
      {isLong ? (
        <Button className={css.more} size="compact-xs" variant="default" onClick={() => setAll(true)}>
          {t('Show all {count} characters', { count: number(text.length) })}
        </Button>
      ) : null}
    </>
  );
}
