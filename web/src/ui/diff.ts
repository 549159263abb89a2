// Two texts as lines that were kept, taken away or added; within a changed line, the words that changed.

import { diffLines, diffWordsWithSpace } from 'diff';

export interface Part {
  text: string;
  isChanged: boolean;
}

export type Line = { kind: ' ' | '-' | '+'; parts: Part[] } | { kind: 'skip'; lines: number };

/** Unchanged lines shown around a change. */
const AROUND = 3;

export function lines(before: string, after: string): Line[] {
  const changes = diffLines(before, after);
  const found: Line[] = [];
  for (const [position, change] of changes.entries()) {
    const texts = change.value.replace(/\n$/, '').split('\n');
    const next = changes[position + 1];
    const previous = changes[position - 1];
    if (change.removed && next?.added) found.push(...words(texts, next.value.replace(/\n$/, '').split('\n'), '-'));
    else if (change.added && previous?.removed)
      found.push(...words(previous.value.replace(/\n$/, '').split('\n'), texts, '+'));
    else if (change.added || change.removed) found.push(...texts.map((text) => whole(change.added ? '+' : '-', text)));
    else found.push(...context(texts, position === 0, position === changes.length - 1));
  }
  return found;
}

function whole(kind: ' ' | '-' | '+', text: string): Line {
  return { kind, parts: [{ text, isChanged: false }] };
}

/** Lines that were changed into others, side by side as long as both last. */
function words(before: string[], after: string[], side: '-' | '+'): Line[] {
  const shown = side === '-' ? before : after;
  return shown.map((text, position) => {
    const [one, other] = [before[position], after[position]];
    if (one === undefined || other === undefined) return whole(side, text);
    const parts = diffWordsWithSpace(one, other)
      .filter((part) => (side === '-' ? !part.added : !part.removed))
      .map((part) => ({ text: part.value, isChanged: part.added || part.removed }));
    return { kind: side, parts };
  });
}

function context(texts: string[], isFirst: boolean, isLast: boolean): Line[] {
  const head = isFirst ? 0 : AROUND;
  const tail = isLast ? 0 : AROUND;
  if (texts.length <= head + tail + 1) return texts.map((text) => whole(' ', text));
  const kept = (part: string[]): Line[] => part.map((text) => whole(' ', text));
  const skipped: Line = { kind: 'skip', lines: texts.length - head - tail };
  return [...kept(texts.slice(0, head)), skipped, ...kept(tail > 0 ? texts.slice(-tail) : [])];
}
