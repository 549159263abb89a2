import { lazy, memo, Suspense } from 'react';
import css from './Markdown.module.css';

const Rendered = lazy(() => import('./Rendered'));

/** Text of a model, rendered. Nothing in it can run, and nothing is fetched for it. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return <div className={css.text}><Suspense fallback={<p>{text}</p>}><Rendered text={text} /></Suspense></div>;
});
