import { IconAlertTriangle, type Icon } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Problem } from '../api/client';
import css from './Note.module.css';

export function Empty({ icon: Icon, title, children }: { icon: Icon; title: string; children?: ReactNode }) {
  return (
    <div className={css.empty}>
      <Icon size={30} stroke={1.4} aria-hidden />
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** An error with each of its mistakes, and the request's id for the server's log. */
export function ProblemNote({ error, what }: { error: unknown; what: string }) {
  const problem = error instanceof Problem ? error : undefined;
  const mistakes = problem?.mistakes ?? [];
  return (
    <div className={css.problem} role="alert">
      <IconAlertTriangle size={17} aria-hidden />
      <div>
        <strong>{what}</strong>
        {mistakes.length > 0 ? (
          <ul>
            {mistakes.map(({ place, message }) => (
              <li key={place + message}>
                {place ? <code>{place}</code> : null} {message}
              </li>
            ))}
          </ul>
        ) : (
          <p>{error instanceof Error ? error.message : String(error)}</p>
        )}
        {problem && !problem.isUnreachable ? (
          <small>
            {problem.code}
            {problem.requestId ? ` · ${problem.requestId}` : ''}
          </small>
        ) : null}
      </div>
    </div>
  );
}
