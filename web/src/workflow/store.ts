// What is being edited: the graph with its history, what is selected, and which version it came from. Whoever changes it
// goes through here, the person as well as the chat.

import type { SavedWorkflow, WorkflowDocument } from '../api/types';
import { Store } from '../store/store';
import { isSame, toGraph } from './convert';
import { EMPTY, type Graph } from './graph';
import { began, type History, record, redo, undo } from './history';
import { type Answer, perform, type Plans, put } from './tools';

export interface Editing {
  history: History;
  /** The tasks that are selected. */
  selected: string[];
  /** What the chat changed last. */
  touched: string[];
  /** The version this began from; none when it was never saved. */
  base?: { version: number; graph: Graph };
  isDirty: boolean;
}

export class EditorStore extends Store<Editing> {
  readonly #made = new Set<string>();

  constructor() {
    super({ history: began(EMPTY), selected: [], touched: [], isDirty: false });
  }

  get graph(): Graph {
    return this.snapshot().history.present;
  }

  /** Begins anew from a saved version. */
  open(saved: SavedWorkflow): void {
    const graph = toGraph(saved);
    this.#show({ history: began(graph), selected: [], touched: [], base: { version: saved.version, graph } });
  }

  /** What is here was saved: the history goes on, and undoing leads away from what is saved. */
  saved({ version }: SavedWorkflow, graph: Graph): void {
    this.#show({ base: { version, graph } });
  }

  /** Somebody else has saved this version; what is here is kept and counts as a change of it. */
  rebase(saved: SavedWorkflow): void {
    this.#show({ base: { version: saved.version, graph: toGraph(saved) } });
  }

  /** What is here is kept elsewhere, or no longer wanted: nothing is lost by going away. */
  leave(): void {
    this.#show({ base: { version: this.snapshot().base?.version ?? 0, graph: this.graph } });
  }

  /** Puts a saved version in the place of what is here, as a step that can be undone. */
  take(label: string, saved: SavedWorkflow): void {
    this.edit(label, () => toGraph(saved));
    this.#show({ base: { version: saved.version, graph: this.graph } });
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

  /** Whether a call was not made yet; from now on it was. */
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

  /** Puts what the chat has planned on the canvas. */
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
