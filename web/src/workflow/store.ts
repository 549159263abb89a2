// The workflow being edited: the graph with its history, the selected tasks, and the version it began from. Every change
// goes through here, the person's as well as the chat's.

import type { SavedWorkflow, WorkflowDocument } from '../api/types';
import { Store } from '../store/store';
import { isSame, toGraph } from './convert';
import type { Draft } from './drafts';
import { EMPTY, type Graph } from './graph';
import { began, type History, record, redo, undo } from './history';
import { type Answer, perform, type Plans, put } from './tools';
import { t } from '../words/t';

export interface Editing {
  history: History;
  /** The tasks that are selected. */
  selected: string[];
  /** The tasks the chat changed last. */
  touched: string[];
  /** The version this began from; none when it was never saved. */
  base?: { version: number; graph: Graph };
  isDirty: boolean;
  /** When the draft was left that this went on with, in milliseconds. */
  leftAt?: number;
}

export class EditorStore extends Store<Editing> {
  readonly #made = new Set<string>();

  constructor() {
    super({ history: began(EMPTY), selected: [], touched: [], isDirty: false });
  }

  get graph(): Graph {
    return this.snapshot().history.present;
  }

  /** Replaces everything by a saved version, without history. */
  open(saved: SavedWorkflow): void {
    const graph = toGraph(saved);
    this.#show({ history: began(graph), selected: [], touched: [], base: { version: saved.version, graph } });
  }

  /** Takes this graph for the saved one. The history goes on, and undoing makes it dirty again. */
  saved({ version }: SavedWorkflow, graph: Graph): void {
    this.#show({ base: { version, graph } });
  }

  /** Takes another author's version for the base; the graph here stays, as a change of it. */
  rebase(saved: SavedWorkflow): void {
    this.#show({ base: { version: saved.version, graph: toGraph(saved) } });
  }

  /** Takes the graph for saved, because it is saved elsewhere or no longer wanted: nothing asks before leaving. */
  leave(): void {
    this.#show({ base: { version: this.snapshot().base?.version ?? 0, graph: this.graph } });
  }

  /** Replaces the graph by a saved version, as a step that can be undone. */
  take(label: string, saved: SavedWorkflow): void {
    this.edit(label, () => toGraph(saved));
    this.#show({ base: { version: saved.version, graph: this.graph } });
  }

  /** Goes on with a draft, as a change of the version it was made from. */
  restore({ graph, version, at }: Draft): void {
    this.edit(t('go on with the draft'), () => graph);
    const { base } = this.snapshot();
    this.#show({ leftAt: at, ...(base && version !== undefined ? { base: { ...base, version } } : {}) });
  }

  edit(label: string, change: (graph: Graph) => Graph, key?: string): void {
    const graph = change(this.graph);
    const history = record(this.snapshot().history, graph, {
      label,
      at: Date.now(),
      ...(key === undefined ? {} : { key }),
    });
    if (history !== this.snapshot().history)
      this.#show({ history, touched: [], selected: this.#alive(this.snapshot().selected, graph) });
  }

  /** Returns whether a call is new, and remembers it. */
  isNew(call: string): boolean {
    const isNew = !this.#made.has(call);
    this.#made.add(call);
    return isNew;
  }

  /** Makes a call of the chat. */
  call(name: string, args: unknown, plans: Plans): Answer {
    const answer = perform(this.graph, name, args, plans);
    this.#done('chat: ', answer);
    return answer;
  }

  /** Puts a plan of the chat on the canvas. */
  put(plan: WorkflowDocument): void {
    this.#done('', put(this.graph, plan, false));
  }

  undo(): void {
    this.#travel(undo(this.snapshot().history));
  }

  redo(): void {
    this.#travel(redo(this.snapshot().history));
  }

  select(selected: string[]): void {
    this.#show({ selected });
  }

  #done(by: string, { graph, label, touched }: Answer): void {
    if (label === undefined) return;
    const history = record(this.snapshot().history, graph, { label: by + label, at: Date.now() });
    this.#show({ history, touched: touched, selected: this.#alive(this.snapshot().selected, graph) });
  }

  #travel(history: History): void {
    if (history !== this.snapshot().history)
      this.#show({ history, touched: [], selected: this.#alive(this.snapshot().selected, history.present) });
  }

  #alive(ids: string[], graph: Graph): string[] {
    return ids.filter((id) => graph.tasks.some((task) => task.id === id));
  }

  #show(change: Partial<Editing>): void {
    const before = this.snapshot();
    const after = { ...before, ...change };
    const isKnown = after.history.present === before.history.present && after.base === before.base;
    const isDirty = isKnown ? after.isDirty : !isSame(after.history.present, after.base?.graph ?? EMPTY);
    this.set({ ...after, isDirty });
  }
}
