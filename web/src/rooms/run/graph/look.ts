// Which tasks of a large run are drawn one by one.

import { type Node, useReactFlow, useStore } from '@xyflow/react';
import { useEffect, useMemo, useState } from 'react';
import type { Task } from '../../../run/state';
import { NODE_HEIGHT, NODE_WIDTH } from './layout';
import { isWithin, type Scene } from './scene';
import type { TaskNodeData } from './TaskNode';
import { useArea } from './useArea';

/** Tasks beyond which only a part can be read at once. */
export const MANY = 60;
/** The zoom of the first look, at which the neighbours are seen too. */
const AMONG_MANY = 0.75;

/** Tasks drawn at once: more of them would stop the page for longer than a glance. */
const PORTION = 30;

type TaskFlowNode = Node<TaskNodeData>;

/** The nodes that are seen, and a few around them; of many new ones a portion with each picture. */
export function useNear(nodes: TaskFlowNode[], isLarge: boolean): { near: TaskFlowNode[]; isPainted: boolean } {
  const area = useArea();
  const isPainted = isLarge && area === undefined;
  const [most, setMost] = useState(PORTION);
  const near = useMemo(
    () => (isLarge ? (area ? nodes.filter(({ position }) => isWithin(position, area)) : []) : nodes),
    [isLarge, nodes, area],
  );
  const isMore = isLarge && near.length > most;
  useEffect(() => {
    if (!isMore) return;
    const soon = requestAnimationFrame(() => setMost(most + PORTION));
    return () => cancelAnimationFrame(soon);
  }, [isMore, most]);
  if (isPainted && most > PORTION) setMost(PORTION);
  return { near: useMemo(() => (isMore ? near.slice(0, most) : near), [isMore, near, most]), isPainted };
}

/** The task a large graph opens at: the chosen one, the first that failed, waits or runs, or the first. */
function firstTask(tasks: readonly Task[], chosen: number): Task | undefined {
  const of = (wanted: Task['status']): Task | undefined => tasks.find(({ status }) => status === wanted);
  return tasks[chosen - 1] ?? of('FAILED') ?? of('WAITING') ?? of('RUNNING') ?? tasks[0];
}

/** Looks at that task as soon as the canvas has a size. */
export function useFirstLook({ tasks, places, chosen }: Scene, isLarge: boolean): void {
  const { setCenter } = useReactFlow();
  const hasSize = useStore(({ width, panZoom }) => width > 0 && panZoom !== null);
  useEffect(() => {
    const place = places.get(firstTask(tasks, chosen)?.index ?? 0);
    if (isLarge && hasSize && place)
      void setCenter(place.x + NODE_WIDTH / 2, place.y + NODE_HEIGHT / 2, { zoom: AMONG_MANY });
  }, [places, hasSize, isLarge, setCenter]); // oxlint-disable-line react/exhaustive-deps
}
