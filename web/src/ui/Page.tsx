import { type ReactNode, useEffect } from 'react';
import css from './Page.module.css';

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
  return <section className={`${css.card} ${css.wide}`} tabIndex={0} aria-label={name}>{children}</section>;
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Consort`;
  }, [title]);
}
