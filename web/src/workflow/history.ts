// The steps that can be undone: the graph before each, and a label for what it did.

import type { Graph } from './graph';

/** Steps kept. */
const STEPS_MAX = 200;
/** Changes of one thing within this time are one step. */
const PAUSE_MS = 1_500;

interface Step {
  /** The graph before it, or after it once it is undone. */
  graph: Graph;
  label: string;
}

export interface History {
  past: Step[];
  present: Graph;
  future: Step[];
  /** The key and time of the last step, while another edit may join it. */
  open?: { key: string; at: number } | undefined;
}

export interface Edit {
  label: string;
  /** Edits with the same key, one after the other, are one step. */
  key?: string;
  at: number;
}

export const began = (present: Graph): History => ({ past: [], present, future: [] });

export function record(history: History, graph: Graph, { label, key, at }: Edit): History {
  if (graph === history.present) return history;
  const open = key === undefined ? undefined : { key, at };
  const joins = key !== undefined && history.open?.key === key && at - history.open.at < PAUSE_MS;
  if (joins) return { ...history, present: graph, future: [], open };
  return {
    past: [...history.past, { graph: history.present, label }].slice(-STEPS_MAX),
    present: graph,
    future: [],
    open,
  };
}

export function undo(history: History): History {
  const last = history.past.at(-1);
  if (!last) return history;
  return {
    past: history.past.slice(0, -1),
    present: last.graph,
    future: [{ graph: history.present, label: last.label }, ...history.future],
  };
}

export function redo(history: History): History {
  const next = history.future[0];
  if (!next) return history;
  return {
    past: [...history.past, { graph: history.present, label: next.label }],
    present: next.graph,
    future: history.future.slice(1),
  };
}
