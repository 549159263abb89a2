// Asks a callback about each thing that waits for a person, once.

import { Conflict, NotFound } from './errors.js';

interface Waiting<Row, Decision> {
  /** Sends a request until the server is there. */
  patiently: <T>(request: () => Promise<T>) => Promise<T>;
  /** The questions that are open now. */
  open: () => Promise<Row[]>;
  idOf: (row: Row) => string;
  /** Decides about it; `undefined` leaves it to somebody else. */
  ask: (row: Row) => Decision | undefined | Promise<Decision | undefined>;
  apply: (id: string, decision: Decision) => Promise<void>;
}

/** A function that asks about what is open and was not asked about before: what a stream tells of again was decided. */
export function attendant<Row, Decision>(waiting: Waiting<Row, Decision>): () => Promise<void> {
  const { patiently, open, idOf, ask, apply } = waiting;
  const asked = new Set<string>();
  return async () => {
    for (const row of await patiently(open)) {
      const id = idOf(row);
      if (asked.has(id)) continue;
      asked.add(id);
      const decision = await ask(row);
      if (decision === undefined) continue;
      await patiently(() => apply(id, decision)).catch((error: unknown) => {
        // Somebody else may have been faster, or it may be over.
        if (!(error instanceof Conflict || error instanceof NotFound)) throw error;
      });
    }
  };
}
