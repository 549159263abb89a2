// The sentences of the UI in the reader's language. The code says them in English, by which the others are looked up.

import type { GERMAN } from './de';

/** A sentence that every language has. `{…}` stands for a value, a word after `|` tells apart what English says alike. */
export type Sentence = keyof typeof GERMAN;

/** The names of the values in a sentence. */
export type Slots<S extends string> = S extends `${string}{${infer Name}}${infer Rest}` ? Name | Slots<Rest> : never;

type Values<S extends string> = [Slots<S>] extends [never] ? [] : [values: Record<Slots<S>, string | number>];

type Piece = { text: string } | { slot: string };

const SLOT = /\{(\w+)\}/;

let lookUp = said;
let spoken = 'en-GB';
/** The sentences that were said, cut once. There are as many as there are sentences. */
const cut = new Map<Sentence, Piece[]>();

/** The sentence in the reader's language, with its values. */
export function t<S extends Sentence>(sentence: S, ...[values]: Values<S>): string {
  return filled(sentence, values ?? {});
}

function filled(sentence: Sentence, values: Record<string, string | number>): string {
  return pieces(sentence)
    .map((piece) => ('text' in piece ? piece.text : (values[piece.slot] ?? '')))
    .join('');
}

/** One sentence for one thing, another for any other number of them; both call the number `n`. */
export function plural<One extends Sentence, Many extends Sentence>(n: number, one: One, many: Many): string {
  return filled(n === 1 ? one : many, { n: number(n) });
}

/** A number as the reader's language writes it, with this many digits after the point. */
export function number(value: number, digits?: number): string {
  return value.toLocaleString(
    spoken,
    digits === undefined ? {} : { minimumFractionDigits: digits, maximumFractionDigits: digits },
  );
}

/** A sentence in the reader's language, cut where its values go. */
export function pieces(sentence: Sentence): Piece[] {
  const known = cut.get(sentence);
  if (known) return known;
  const parts = lookUp(sentence).split(SLOT);
  const made = parts.map((part, at) => (at % 2 === 0 ? { text: part } : { slot: part }));
  cut.set(sentence, made);
  return made;
}

/** A sentence as English says it. */
export function said(sentence: string): string {
  return sentence.replace(/\|\w+$/, '');
}

/** The language of numbers and dates. */
export function locale(): string {
  return spoken;
}

/** Sets the language; once, before any page is loaded. */
export function speak(language: string, dictionary: (english: string) => string): void {
  spoken = language;
  lookUp = dictionary;
  cut.clear();
}
