import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { notifications } from '@mantine/notifications';
import type { TaskDocument } from '../../api/types';
import { toDocument, toTasks } from '../../workflow/convert';
import {
  add,
  connect,
  disconnect,
  insert,
  move,
  nextId,
  type Place,
  refusal,
  remove,
  type Task,
  titleOf,
} from '../../workflow/graph';
import { arranged, below, freePlace } from '../../workflow/place';
import type { EditorStore } from '../../workflow/store';
import type { CanvasActions } from './Canvas';

const STEP = 22;
const SMALL_STEP = 4;
const ARROWS: Record<string, Place> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};
/** What is on the clipboard when tasks were copied. */
const KIND = 'consort/tasks';

export interface Hand {
  actions: CanvasActions;
  linking: string | undefined;
  /** The task added last: its name is asked for at once. */
  added: string | undefined;
  addTask: (reads: string[], at?: Place) => void;
  link: (from: string | undefined) => void;
  removeTasks: (ids: string[]) => void;
  duplicate: (ids: string[]) => void;
  tidy: () => void;
}

/** Everything a person does on the canvas, by pointer or by key. */
export function useCanvas(store: EditorStore, opened: () => void): Hand {
  const [linking, link] = useState<string>();
  const [added, setAdded] = useState<string>();
  const from = useRef<string>(undefined);
  useEffect(() => {
    from.current = linking;
  }, [linking]);
  const addTask = useCallback(
    (reads: string[], at?: Place) => {
      const id = nextId(store.graph);
      store.edit('add a task', (graph) => add(graph, { reads, at: at ?? freePlace(graph, reads) }));
      store.choose([id]);
      setAdded(id);
      opened();
    },
    [store, opened],
  );
  const join = useCallback(
    (one: string, other: string) => {
      const reason = refusal(store.graph, one, other);
      if (reason) notifications.show({ color: 'yellow', message: `${reason}.` });
      else
        store.edit(`connect '${titleOf(store.graph, one)}' to '${titleOf(store.graph, other)}'`, (graph) =>
          connect(graph, one, other),
        );
    },
    [store],
  );
  const removeTasks = useCallback(
    (ids: string[]) => {
      const label = ids.length === 1 ? `remove '${titleOf(store.graph, ids[0] ?? '')}'` : `remove ${ids.length} tasks`;
      store.edit(label, (graph) => remove(graph, ids));
    },
    [store],
  );
  const put = useCallback(
    (tasks: readonly Task[], label: string) => {
      const { graph, ids } = insert(store.graph, tasks);
      store.edit(label, () => graph);
      store.choose(ids);
    },
    [store],
  );
  const duplicate = useCallback(
    (ids: string[]) => {
      const copies = store.graph.tasks
        .filter(({ id }) => ids.includes(id))
        .map((task) => ({ ...task, at: { x: task.at.x + STEP, y: task.at.y + 5 * STEP } }));
      if (copies.length > 0)
        put(
          copies,
          copies.length === 1
            ? `duplicate '${titleOf(store.graph, copies[0]?.id ?? '')}'`
            : `duplicate ${copies.length} tasks`,
        );
    },
    [store, put],
  );
  const choose = useCallback(
    (id: string, isMore: boolean) => {
      const one = from.current;
      if (one !== undefined) {
        link(undefined);
        if (one !== id) join(one, id);
        return;
      }
      const { chosen } = store.snapshot();
      if (isMore) store.choose(chosen.includes(id) ? chosen.filter((other) => other !== id) : [...chosen, id]);
      else store.choose([id]);
      setAdded(undefined);
      opened();
    },
    [store, join, opened],
  );
  const pressed = useCallback(
    (id: string, event: KeyboardEvent): boolean => {
      const { chosen } = store.snapshot();
      const those = chosen.includes(id) ? chosen : [id];
      const arrow = ARROWS[event.key];
      if (arrow && !event.altKey && !event.ctrlKey && !event.metaKey) {
        const by = event.shiftKey ? SMALL_STEP : STEP;
        const places = store.graph.tasks
          .filter((task) => those.includes(task.id))
          .map((task) => [task.id, { x: task.at.x + by * arrow.x, y: task.at.y + by * arrow.y }] as const);
        store.edit(
          `move '${titleOf(store.graph, id)}'`,
          (graph) => move(graph, new Map(places)),
          `move.${those.join()}`,
        );
        return true;
      }
      if (event.ctrlKey || event.metaKey || event.altKey) return false;
      if (event.key === 'Delete' || event.key === 'Backspace') {
        const next =
          store.graph.tasks.find((task) => task.id === id)?.reads.find((read) => !those.includes(read)) ??
          store.graph.tasks.find((task) => !those.includes(task.id))?.id;
        removeTasks(those);
        focusTask(next);
      } else if (event.key === 'c') link(id);
      else if (event.key === 'n') addTask([id]);
      else return false;
      return true;
    },
    [store, removeTasks, addTask],
  );
  const actions = useMemo(
    (): CanvasActions => ({
      choose,
      pressed,
      connect: join,
      moved: (places) =>
        store.edit(
          places.size === 1 ? `move '${titleOf(store.graph, [...places.keys()][0] ?? '')}'` : 'move tasks',
          (graph) => move(graph, places),
        ),
      disconnect: (one, other) =>
        store.edit(`disconnect '${titleOf(store.graph, one)}' from '${titleOf(store.graph, other)}'`, (graph) =>
          disconnect(graph, one, other),
        ),
      add: (at, reads) => addTask(reads, at),
      clear: () => {
        link(undefined);
        store.choose([]);
      },
    }),
    [choose, pressed, join, store, addTask],
  );
  useClipboard(store, put);
  return {
    actions,
    linking,
    added,
    addTask,
    link,
    removeTasks,
    duplicate,
    tidy: () => store.edit('tidy up', arranged),
  };
}

/** Leads the keyboard to a task on the canvas, once it is drawn. */
function focusTask(id: string | undefined): void {
  requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-task="${id}"]`)?.focus());
}

const isText = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('input, textarea, [contenteditable], [role="dialog"]') !== null;

/** Tasks are copied and pasted as text, here and into another workflow. */
function useClipboard(store: EditorStore, put: (tasks: readonly Task[], label: string) => void): void {
  useEffect(() => {
    const copied = (event: ClipboardEvent): void => {
      const { chosen } = store.snapshot();
      if (chosen.length === 0 || isText(event.target) || getSelection()?.toString()) return;
      const { graph } = store;
      const part = {
        ...graph,
        tasks: graph.tasks
          .filter(({ id }) => chosen.includes(id))
          .map((task) => ({ ...task, reads: task.reads.filter((id) => chosen.includes(id)) })),
      };
      event.clipboardData?.setData('text/plain', JSON.stringify({ kind: KIND, tasks: toDocument(part).tasks }));
      event.preventDefault();
    };
    const pasted = (event: ClipboardEvent): void => {
      if (isText(event.target)) return;
      const text = event.clipboardData?.getData('text/plain') ?? '';
      if (!text.startsWith(`{"kind":"${KIND}"`)) return;
      const { tasks } = JSON.parse(text) as { tasks: TaskDocument[] };
      put(below(store.graph, toTasks(tasks)), `paste ${tasks.length} ${tasks.length === 1 ? 'task' : 'tasks'}`);
      event.preventDefault();
    };
    document.addEventListener('copy', copied);
    document.addEventListener('paste', pasted);
    return () => {
      document.removeEventListener('copy', copied);
      document.removeEventListener('paste', pasted);
    };
  }, [store, put]);
}

/** Keys that work wherever the focus is, except that text fields undo their own typing. */
export function useKeys(
  store: EditorStore,
  { save, hand, isActive }: { save: () => void; hand: Hand; isActive: boolean },
): void {
  useEffect(() => {
    const pressed = (event: globalThis.KeyboardEvent): void => {
      const key = event.key.toLowerCase();
      if (event.key === 'Escape' && hand.linking !== undefined) hand.link(undefined);
      const isCommand = event.ctrlKey || event.metaKey;
      if (isCommand && key === 's') {
        event.preventDefault();
        save();
        return;
      }
      if (event.key === 'Escape' && event.target instanceof Element && event.target.closest('form'))
        focusTask(store.snapshot().chosen[0]);
      if (!isActive || isText(event.target)) return;
      if (!isCommand) {
        const onCanvas =
          event.target === document.body ||
          (event.target instanceof Element && event.target.closest('.react-flow') !== null);
        if (key === 'n' && onCanvas && !event.altKey && !event.defaultPrevented) hand.addTask(store.snapshot().chosen);
        else if (event.key === 'Escape') store.choose([]);
        else return;
      } else if ((key === 'z' && event.shiftKey) || key === 'y') store.redo();
      else if (key === 'z') store.undo();
      else if (key === 'd' && store.snapshot().chosen.length > 0) hand.duplicate(store.snapshot().chosen);
      else return;
      event.preventDefault();
    };
    window.addEventListener('keydown', pressed);
    return () => window.removeEventListener('keydown', pressed);
  }, [store, save, hand, isActive]);
}
