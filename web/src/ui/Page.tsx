import { type ReactNode, useEffect } from 'react';
import css from './Page.module.css';
import { t } from '../words/t';

/** A page with a heading, what can be done there, and its content. */
export function Page({ title, actions, children }: { title: string; actions?: ReactNode; children: ReactNode }) {
  useTitle(title);
  return (
    <>
      <div className={css.head}>
        <h1>{title}</h1>
        {actions}
      </div>
      <div className={css.body}>{children}</div>
    </>
  );
}

export function Card({ children, className }: { children: ReactNode; className?: string | undefined }) {
  return <section className={`${css.card} ${className ?? ''}`}>{children}</section>;
}

/** A card whose content may be wider than the page. */
export function WideCard({ name, children }: { name: string; children: ReactNode }) {
  return (
    <section className={`${css.card} ${css.wide}`} tabIndex={0} aria-label={name}>
      {children}
    </section>
  );
}

const shown = { title: t('Overview'), waiting: 0 };

function entitle(change: Partial<typeof shown>): void {
  Object.assign(shown, change);
  document.title = `${shown.waiting > 0 ? `(${shown.waiting}) ` : ''}${shown.title} · Consort`;
}

export function useTitle(title: string): void {
  useEffect(() => entitle({ title }), [title]);
}

/** Tells in the title how much waits for a person, for who looks at another tab. */
export function useWaitingTitle(waiting: number): void {
  useEffect(() => entitle({ waiting }), [waiting]);
}
