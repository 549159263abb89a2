import '@xyflow/react/dist/style.css';
import {
  Background,
  Controls,
  type Edge as FlowEdge,
  MarkerType,
  MiniMap,
  type Node,
  Panel,
  Position,
  ReactFlow,
} from '@xyflow/react';
import { useMediaQuery } from '@mantine/hooks';
import { useCallback, useMemo, useState } from 'react';
import { useSearchParams } from 'react-router';
import type { RunState, Task } from '../../../run/state';
import shared from '../../../ui/Canvas.module.css';
import { statusTone } from '../../../ui/Status';
import type { TabProps } from '../Run';
import { TaskPanel } from '../TaskPanel';
import css from './Graph.module.css';
import { DAGRE_MAX, type Direction, type Edge, edges, layout, NODE_HEIGHT, NODE_WIDTH } from './layout';
import { TaskNode, type TaskNodeData } from './TaskNode';

const TYPES = { task: TaskNode };
const ORIGIN = { x: 0, y: 0 };
/** On a narrow screen the buttons stand below the picture. */
const FIT = {
  LR: { padding: 0.12, maxZoom: 1, minZoom: 0.45 },
  TB: { padding: { x: 0.06, top: 0.06, bottom: '60px' } as const, maxZoom: 1, minZoom: 0.45 },
};
/** Tasks beyond which only a part can be read at once. */
const MANY = 60;
/** Tasks that the first look is at, of many. */
const LOOKED_AT = 6;
/** The zoom of that view, at which the neighbours are seen too. */
const AMONG_MANY = 0.75;
const NARROW = '(max-width: 640px)';

/** The tasks with what leads from one to another. */
export default function Graph({ run }: TabProps) {
  const [params, setParams] = useSearchParams();
  const chosen = Number(params.get('task') ?? 0);
  const choose = useCallback(
    (index: number) => {
      setParams((old) => (Number(old.get('task') ?? 0) === index ? {} : { task: String(index) }), { replace: true });
    },
    [setParams],
  );
  // Tasks never gain links: their number tells whether the picture is the same.
  // oxlint-disable-next-line react/exhaustive-deps
  const links = useMemo(() => edges(run.tasks, run.workflow), [run.tasks.length, run.workflow]);
  const direction = useMediaQuery(NARROW, undefined, { getInitialValueInEffect: false }) ? 'TB' : 'LR';
  // oxlint-disable-next-line react/exhaustive-deps
  const places = useMemo(() => layout(run.tasks, links, direction), [links, direction]);
  const nodes = useNodes(run, { places, direction, chosen, choose });
  const isCrowded = run.tasks.length > DAGRE_MAX;
  const drawn = useMemo(
    () =>
      links.filter((link) => !isCrowded || isNear(link, chosen, run.tasks)).map((link) => drawnEdge(link, run.tasks)),
    [links, isCrowded, chosen, run.tasks],
  );
  const [focus] = useState(() => firstLook(run.tasks, chosen));
  const task = run.tasks[chosen - 1];
  return (
    <div className={css.split}>
      <div className={`${shared.canvas} ${css.canvas}`} role="group" aria-label="Tasks and their links">
        <ReactFlow
          key={direction}
          nodes={nodes}
          edges={drawn}
          nodeTypes={TYPES}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          onlyRenderVisibleElements={run.tasks.length > MANY}
          minZoom={0.05}
          maxZoom={1.4}
          fitView
          fitViewOptions={{ ...FIT[direction], ...focus }}
          proOptions={{ hideAttribution: true }}
        >
          <Background gap={22} size={1} />
          <Controls showInteractive={false} orientation={direction === 'TB' ? 'horizontal' : 'vertical'} />
          {run.tasks.length > MANY && direction === 'LR' ? (
            <MiniMap pannable zoomable nodeColor={toneOf} nodeStrokeWidth={0} ariaLabel="The whole run, small" />
          ) : null}
          {isCrowded ? (
            <Panel position="bottom-center" className={css.crowded ?? ''}>
              Links are drawn for what runs and for the chosen task
            </Panel>
          ) : null}
        </ReactFlow>
      </div>
      {task ? <TaskPanel run={run} task={task} close={() => choose(task.index)} /> : null}
    </div>
  );
}

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
function useNodes(run: RunState, { places, direction, chosen, choose }: Drawing): Node<TaskNodeData>[] {
  const [nodes, setNodes] = useState<Node<TaskNodeData>[]>([]);
  const next = run.tasks.map((task, position) => {
    const conversation = run.conversations.get(String(task.index));
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

/** The tasks a large graph opens at: the chosen one, those that failed or run, or the first. */
function firstLook(tasks: readonly Task[], chosen: number): { nodes?: { id: string }[]; maxZoom?: number } {
  if (tasks.length <= MANY) return {};
  const of = (...statuses: Task['status'][]): Task[] =>
    tasks.filter(({ status }) => statuses.includes(status)).slice(0, LOOKED_AT);
  const found =
    [tasks.slice(Math.max(0, chosen - 1), chosen), of('FAILED'), of('WAITING'), of('RUNNING')].find(
      ({ length }) => length > 0,
    ) ?? tasks.slice(0, LOOKED_AT);
  return { nodes: found.map(({ index }) => ({ id: String(index) })), maxZoom: AMONG_MANY };
}

/** Whether a link is worth drawing where all of them would hide the tasks. */
const isNear = ({ from, to }: Edge, chosen: number, tasks: readonly Task[]): boolean =>
  [from, to].some((index) => index === chosen || tasks[index - 1]?.status === 'RUNNING');

const toneOf = ({ data }: Node<TaskNodeData>): string => `var(--${statusTone(data.task.status)})`;

function drawnEdge({ from, to, kind }: Edge, tasks: readonly Task[]): FlowEdge {
  const flows = tasks[to - 1]?.status === 'RUNNING';
  const color = flows ? 'var(--running)' : 'var(--line-strong)';
  return {
    id: `${from}-${to}`,
    source: String(from),
    target: String(to),
    animated: flows,
    style: { stroke: color, strokeWidth: 1.5, ...(kind === 'reads' ? {} : { strokeDasharray: '4 4' }) },
    markerEnd: { type: MarkerType.ArrowClosed, color, width: 16, height: 16 },
  };
}
