import { lazy, memo, Suspense } from 'react';
import { blocks } from './blocks';
import css from './Markdown.module.css';

const Rendered = lazy(() => import('./Rendered'));
/** Characters of a piece that is still growing beyond which it is shown as plain text until it is whole. */
const GROWING_MAX = 8_000;

/** Text of a model, rendered. Nothing in it can run, and nothing is fetched for it. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return (
    <div className={css.text}>
      <Suspense fallback={<p className={css.plain}>{text}</p>}>
        <Rendered text={text} />
      </Suspense>
    </div>
  );
});

/** Text that is still coming: what is complete of it is rendered once, however long it becomes. */
export function Growing({ text }: { text: string }) {
  const all = blocks(text);
  const last = all.pop() ?? '';
  return (
    <div className={css.growing}>
      {all.map((block, position) => (
        <Markdown key={position} text={block} />
      ))}
      {last.length > GROWING_MAX ? <p className={css.plain}>{last}</p> : <Markdown text={last} />}
    </div>
  );
}
