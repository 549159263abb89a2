import { type Node, Position } from '@xyflow/react';
import { useState } from 'react';
import { conversationOf } from '../../../run/instances';
import type { RunState } from '../../../run/state';
import { type Direction, type layout, NODE_HEIGHT, NODE_WIDTH } from './layout';
import type { TaskNodeData } from './TaskNode';

const ORIGIN = { x: 0, y: 0 };

interface Drawing {
  places: ReturnType<typeof layout>;
  direction: Direction;
  chosen: number;
  choose: (index: number) => void;
}

const SIDES = {
  LR: { sourcePosition: Position.Right, targetPosition: Position.Left },
  TB: { sourcePosition: Position.Bottom, targetPosition: Position.Top },
};

/** The nodes, each the same object as long as it looks the same: a thousand of them are not drawn again for one. */
export function useNodes(run: RunState, { places, direction, chosen, choose }: Drawing): Node<TaskNodeData>[] {
  const [nodes, setNodes] = useState<Node<TaskNodeData>[]>([]);
  const next = run.tasks.map((task, position) => {
    const conversation = conversationOf(run, task);
    const isChosen = chosen === task.index;
    const place = places.get(task.index) ?? ORIGIN;
    const known = nodes[position];
    const isSame =
      known?.data.task === task &&
      known.data.conversation === conversation &&
      known.data.isChosen === isChosen &&
      known.position === place;
    if (known && isSame) return known;
    const node: Node<TaskNodeData> = {
      id: String(task.index),
      type: 'task',
      position: place,
      width: NODE_WIDTH,
      height: NODE_HEIGHT,
      data: { task, conversation, isChosen, choose },
      ...SIDES[direction],
    };
    return node;
  });
  const isSame = next.length === nodes.length && next.every((node, position) => node === nodes[position]);
  if (!isSame) setNodes(next);
  return isSame ? nodes : next;
}
