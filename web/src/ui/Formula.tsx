import katex from 'katex';
import { useMemo } from 'react';

/** Expansions of a formula's macros at most: one of a few lines could go on for ever. */
const EXPAND_MAX = 500;

/** A formula as MathML, which browsers draw by themselves. One that cannot be read is shown as it is written. */
export default function Formula({ tex, isBlock }: { tex: string; isBlock: boolean }) {
  const drawn = useMemo(() => markup(tex, isBlock), [tex, isBlock]);
  if (drawn === undefined) return isBlock ? <pre>{tex}</pre> : <code>{tex}</code>;
  // The markup is katex's own: it escapes what it is given, and is told to trust nothing of it.
  return <span dangerouslySetInnerHTML={{ __html: drawn }} />;
}

function markup(tex: string, displayMode: boolean): string | undefined {
  try {
    const html = katex.renderToString(tex, { output: 'mathml', displayMode, trust: false, maxExpand: EXPAND_MAX });
    // The page's policy allows no inline styles, and MathML looks right without them.
    return html.replaceAll(/ style="[^"]*"/g, '');
  } catch {
    return undefined;
  }
}
