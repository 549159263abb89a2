import { useState } from 'react';
import css from './Json.module.css';
import { t } from '../words/t';

/** Entries shown of one object or list before more are asked for. */
const ENTRIES = 100;

/** A JSON value as a tree: what is deep is closed. */
export function Json({ value, openTo = 2 }: { value: unknown; openTo?: number }) {
  return (
    <div className={css.tree}>
      <Value value={value} openTo={openTo} />
    </div>
  );
}

function Value({ name, value, openTo }: { name?: string | undefined; value: unknown; openTo: number }) {
  const label =
    name === undefined ? null : (
      <span className={css.name} translate="no">
        {name}:{' '}
      </span>
    );
  if (typeof value !== 'object' || value === null)
    return (
      <div className={css.leaf}>
        {label}
        <Scalar value={value} />
      </div>
    );
  const entries = Object.entries(value);
  const isList = Array.isArray(value);
  if (entries.length === 0)
    return (
      <div className={css.leaf}>
        {label}
        <span className={css.size}>{isList ? '[]' : '{}'}</span>
      </div>
    );
  const size = isList ? `[${entries.length}]` : `{${entries.length}}`;
  return <Branch label={label} size={size} entries={entries} openTo={openTo} />;
}

function Branch({
  label,
  size,
  entries,
  openTo,
}: {
  label: React.ReactNode;
  size: string;
  entries: [string, unknown][];
  openTo: number;
}) {
  const [open, setOpen] = useState(openTo > 0);
  const [shown, setShown] = useState(ENTRIES);
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {label}
        <span className={css.size}>{size}</span>
      </summary>
      {open ? (
        <div>
          {entries.slice(0, shown).map(([key, entry]) => (
            <Value key={key} name={key} value={entry} openTo={openTo - 1} />
          ))}
          {entries.length > shown ? (
            <button type="button" onClick={() => setShown(shown + ENTRIES)}>
              {t('{value} more', { value: entries.length - shown })}
            </button>
          ) : null}
        </div>
      ) : null}
    </details>
  );
}

function Scalar({ value }: { value: unknown }) {
  if (typeof value === 'string')
    return (
      <span className={css.string}>
        {JSON.stringify(value).slice(1, -1).replaceAll('\\n', '\n').replaceAll('\\"', '"')}
      </span>
    );
  if (typeof value === 'number') return <span className={css.number}>{value}</span>;
  return <span className={css.word}>{String(value)}</span>;
}

/** The value a text holds as JSON, when it is an object or a list. */
export function parsed(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
