import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { notifications } from '@mantine/notifications';
import {
  add,
  connect,
  disconnect,
  insert,
  move,
  nextId,
  linkRefusal,
  remove,
  type Task,
  titleOf,
} from '../../workflow/graph';
import { arranged, freePlace } from '../../workflow/place';
import type { EditorStore } from '../../workflow/store';
import type { CanvasActions } from './Canvas';
import { focusTask } from './focus';
import { useClipboard } from './useClipboard';
import type { Point } from '../../ui/point';
import { t } from '../../words/t';

const STEP = 22;
const SMALL_STEP = 4;
const ARROWS: Record<string, Point> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};
export interface CanvasControls {
  actions: CanvasActions;
  linking: string | undefined;
  /** The task added last: its name is asked for at once. */
  added: string | undefined;
  addTask: (reads: string[], at?: Point) => void;
  link: (from: string | undefined) => void;
  removeTasks: (ids: string[]) => void;
  duplicate: (ids: string[]) => void;
  tidy: () => void;
}

/** The changes a person makes on the canvas, by pointer or by key. `opened` is called when a task is to be shown. */
export function useCanvasControls(store: EditorStore, opened: () => void): CanvasControls {
  const [linking, link] = useState<string>();
  const [added, setAdded] = useState<string>();
  const from = useRef<string>(undefined);
  useEffect(() => {
    from.current = linking;
  }, [linking]);
  const addTask = useCallback(
    (reads: string[], at?: Point) => {
      const id = nextId(store.graph);
      store.edit(t('add a task'), (graph) => add(graph, { reads, at: at ?? freePlace(graph, reads) }));
      store.select([id]);
      setAdded(id);
      opened();
    },
    [store, opened],
  );
  const join = useCallback(
    (one: string, other: string) => {
      const reason = linkRefusal(store.graph, one, other);
      if (reason) notifications.show({ color: 'yellow', message: `${reason}.` });
      else
        store.edit(
          t("connect '{task}' to '{task2}'", { task: titleOf(store.graph, one), task2: titleOf(store.graph, other) }),
          (graph) => connect(graph, one, other),
        );
    },
    [store],
  );
  const removeTasks = useCallback(
    (ids: string[]) => {
      const label =
        ids.length === 1
          ? t("remove '{task}'", { task: titleOf(store.graph, ids[0] ?? '') })
          : t('remove {count} tasks', { count: ids.length });
      store.edit(label, (graph) => remove(graph, ids));
    },
    [store],
  );
  const put = useCallback(
    (tasks: readonly Task[], label: string) => {
      const { graph, ids } = insert(store.graph, tasks);
      store.edit(label, () => graph);
      store.select(ids);
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
            ? t("duplicate '{task}'", { task: titleOf(store.graph, copies[0]?.id ?? '') })
            : t('duplicate {count} tasks', { count: copies.length }),
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
      const { selected } = store.snapshot();
      if (isMore) store.select(selected.includes(id) ? selected.filter((other) => other !== id) : [...selected, id]);
      else store.select([id]);
      setAdded(undefined);
      opened();
    },
    [store, join, opened],
  );
  const pressed = useCallback(
    (id: string, event: KeyboardEvent): boolean => {
      const { selected } = store.snapshot();
      const those = selected.includes(id) ? selected : [id];
      const arrow = ARROWS[event.key];
      if (arrow && !event.altKey && !event.ctrlKey && !event.metaKey) {
        const by = event.shiftKey ? SMALL_STEP : STEP;
        const places = store.graph.tasks
          .filter((task) => those.includes(task.id))
          .map((task) => [task.id, { x: task.at.x + by * arrow.x, y: task.at.y + by * arrow.y }] as const);
        store.edit(
          t("move '{task}'", { task: titleOf(store.graph, id) }),
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
          places.size === 1
            ? t("move '{task}'", { task: titleOf(store.graph, [...places.keys()][0] ?? '') })
            : t('move tasks'),
          (graph) => move(graph, places),
        ),
      disconnect: (one, other) =>
        store.edit(
          t("disconnect '{task}' from '{task2}'", {
            task: titleOf(store.graph, one),
            task2: titleOf(store.graph, other),
          }),
          (graph) => disconnect(graph, one, other),
        ),
      add: (at, reads) => addTask(reads, at),
      chooseGroup: (name) => {
        store.select(store.graph.groups.find((group) => group.name === name)?.tasks ?? []);
        opened();
      },
      clear: () => {
        link(undefined);
        store.select([]);
      },
    }),
    [choose, pressed, join, store, addTask, opened],
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
    tidy: () => store.edit(t('tidy up'), arranged),
  };
}
