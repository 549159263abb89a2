import '@xyflow/react/dist/style.css';
import { Background, Controls, Panel, ReactFlow, ReactFlowProvider, useReactFlow } from '@xyflow/react';
import { useMediaQuery } from '@mantine/hooks';
import { type MouseEvent, useCallback, useMemo } from 'react';
import type { Task } from '../../../run/state';
import shared from '../../../ui/Canvas.module.css';
import { useParamsInAddress } from '../../../ui/useParamsInAddress';
import type { TabProps } from '../Run';
import { TaskPanel } from '../TaskPanel';
import { Frames, framesOf } from './Frames';
import css from './Graph.module.css';
import { DAGRE_MAX, edges, isGrid, layout } from './layout';
import { LinkEdge } from './LinkEdge';
import { arrowsOf, drawnEdge, isNear } from './links';
import { MANY, useFirstLook, useNear } from './look';
import { router } from './route';
import { boundsOf, type Scene, taskAt } from './scene';
import { Sheet, SmallMap } from './Sheet';
import { TaskNode } from './TaskNode';
import { useNodes } from './useNodes';
import { FLOW_WORDS } from '../../../ui/flowWords';
import { t } from '../../../words/t';

const TYPES = { task: TaskNode };
const EDGE_TYPES = { link: LinkEdge };
/** On a narrow screen the buttons stand below the picture. */
const FIT = {
  LR: { padding: 0.12, maxZoom: 1, minZoom: 0.5 },
  TB: { padding: { x: 0.06, top: 0.06, bottom: '60px' } as const, maxZoom: 1, minZoom: 0.5 },
};
/** Links beyond which they would hide each other. */
const LINKS_MAX = 1_000;
const NARROW = '(max-width: 640px)';
const NONE: never[] = [];

/** The tasks with what leads from one to another. */
export default function Graph(props: TabProps) {
  return (
    <ReactFlowProvider>
      <Picture {...props} />
    </ReactFlowProvider>
  );
}

function Picture({ run }: TabProps) {
  const [params, change] = useParamsInAddress();
  const chosen = Number(params.get('task') ?? 0);
  const choose = useCallback(
    (index: number) => change((now) => ({ task: now.get('task') === String(index) ? undefined : String(index) })),
    [change],
  );
  // Tasks never gain links: their number tells whether the picture is the same.
  // oxlint-disable-next-line react/exhaustive-deps
  const links = useMemo(() => edges(run.tasks, run.workflow, run.groups), [run.tasks.length, run.workflow]);
  const isNarrow = useMediaQuery(NARROW, undefined, { getInitialValueInEffect: false });
  const direction = isNarrow && !isGrid(run.tasks, links) ? 'TB' : 'LR';
  // oxlint-disable-next-line react/exhaustive-deps
  const places = useMemo(() => layout(run.tasks, links, direction, run.groups), [links, direction]);
  const way = useMemo(() => router(places, direction), [places, direction]);
  const isLarge = run.tasks.length > MANY;
  const isCrowded = run.tasks.length > DAGRE_MAX || links.length > LINKS_MAX;
  const shown = useMemo(
    () => (isCrowded ? links.filter((link) => isNear(link, chosen, run.tasks)) : links),
    [links, isCrowded, chosen, run.tasks],
  );
  const scene = useMemo(
    (): Scene => ({ tasks: run.tasks, places, chosen, arrows: isLarge ? arrowsOf(shown, run.tasks, way) : NONE }),
    [isLarge, shown, run.tasks, places, way, chosen],
  );
  const drawn = useMemo(
    () => (isLarge ? NONE : shown.map((link) => drawnEdge(link, run.tasks, way))),
    [isLarge, shown, run.tasks, way],
  );
  const nodes = useNodes(run, { places, direction, chosen, choose });
  const { near, isPainted } = useNear(nodes, isLarge);
  useFirstLook(scene, isLarge);
  const pointing = usePointing(scene, choose);
  const frames = useMemo(() => framesOf(run, places), [run, places]);
  const { fitBounds } = useReactFlow();
  const task = run.tasks[chosen - 1];
  return (
    <div className={css.split}>
      <div className={`${shared.canvas} ${css.canvas}`} role="group" aria-label={t('Tasks and their links')}>
        <ReactFlow
          key={direction}
          nodes={near}
          edges={drawn}
          nodeTypes={TYPES}
          edgeTypes={EDGE_TYPES}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          minZoom={0.04}
          maxZoom={1.4}
          fitView={!isLarge}
          fitViewOptions={FIT[direction]}
          proOptions={{ hideAttribution: true }}
          ariaLabelConfig={FLOW_WORDS}
          {...(isPainted ? pointing : {})}
        >
          <Background gap={22} size={1} />
          <Frames frames={frames} />
          {isLarge ? <Sheet scene={scene} /> : null}
          <Controls
            showInteractive={false}
            orientation={isNarrow ? 'horizontal' : 'vertical'}
            {...(isLarge ? { onFitView: () => void fitBounds(boundsOf(places), { padding: 0.04 }) } : {})}
          />
          {isLarge && !isNarrow ? (
            <Panel position="bottom-right">
              <SmallMap scene={scene} />
            </Panel>
          ) : null}
          {isCrowded ? (
            <Panel position="bottom-center" className={css.crowded ?? ''}>
              {t('Links are drawn for what runs and for the chosen task')}
            </Panel>
          ) : null}
        </ReactFlow>
      </div>
      {task ? <TaskPanel run={run} task={task} close={() => choose(task.index)} /> : null}
    </div>
  );
}

/** The pointer among painted tasks: it names the one it is over, and chooses it. */
function usePointing(scene: Scene, choose: (index: number) => void) {
  const { screenToFlowPosition } = useReactFlow();
  const find = (event: MouseEvent): Task | undefined =>
    taskAt(scene, screenToFlowPosition({ x: event.clientX, y: event.clientY }));
  return {
    onPaneMouseMove: (event: MouseEvent) => {
      const pane = event.currentTarget as HTMLElement;
      const task = find(event);
      pane.title = task?.name ?? '';
      pane.style.cursor = task ? 'pointer' : '';
    },
    onPaneClick: (event: MouseEvent) => {
      const task = find(event);
      if (task) choose(task.index);
    },
  };
}
