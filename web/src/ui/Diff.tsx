import { useMemo } from 'react';
import css from './Diff.module.css';
import { type Line, lines } from './diff';
import { t } from '../words/t';

/** The changes from one text to another. */
export function Diff({
  before,
  after,
  name = t('Your changes'),
  same = t('Nothing is changed yet.'),
}: {
  before: string;
  after: string;
  name?: string;
  same?: string;
}) {
  const found = useMemo(() => lines(before, after), [before, after]);
  if (before === after) return <div className={`${css.diff} ${css.same}`}>{same}</div>;
  return (
    <div className={css.diff} tabIndex={0} role="region" aria-label={name}>
      {found.map((line, position) => (
        <LineView key={position} line={line} />
      ))}
    </div>
  );
}

function LineView({ line }: { line: Line }) {
  if (line.kind === 'skip')
    return <div className={css.skip}>{t('{lines} unchanged lines', { lines: line.lines })}</div>;
  return (
    <div className={css.line} data-kind={line.kind}>
      <span>{line.kind}</span>
      <span>
        {line.parts.map(({ text, isChanged }, position) => (isChanged ? <mark key={position}>{text}</mark> : text))}
      </span>
    </div>
  );
}
