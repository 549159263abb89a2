import { Fragment, type ReactNode } from 'react';
import { pieces, type Sentence, type Slots } from './t';

/** A sentence with elements in it, such as links, each in the place its language has for it. */
export function Said<S extends Sentence>({ of, ...given }: { of: S } & Record<Slots<S>, ReactNode>) {
  const values = given as Record<string, ReactNode>;
  return pieces(of).map((piece, at) => (
    // A sentence does not change its pieces.
    // oxlint-disable-next-line react/no-array-index-key
    <Fragment key={at}>{'text' in piece ? piece.text : values[piece.slot]}</Fragment>
  ));
}
