import '@xyflow/react/dist/style.css';
import {
  Background,
  type Connection,
  Controls,
  type Edge as FlowEdge,
  type NodeChange,
  type OnConnectEnd,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
} from '@xyflow/react';
import { type ReactNode, useCallback, useMemo, useState } from 'react';
import type { RunState } from '../../run/state';
import shared from '../../ui/Canvas.module.css';
import type { Issue } from '../../workflow/check';
import { type Graph, linkRefusal } from '../../workflow/graph';
import { Frames } from '../run/graph/Frames';
import css from './Canvas.module.css';
import { Edge } from './Edge';
import { drawnEdges } from './edges';
import { framesOf } from './frames';
import { Node, type NodeActions } from './Node';
import { FIT, useFitting } from './useFitting';
import { useNodes } from './useNodes';
import type { Point } from '../../ui/point';
import { FLOW_WORDS } from '../../ui/flowWords';
import { t } from '../../words/t';

const NODES = { task: Node };
const EDGES = { link: Edge };
/** The view of an empty canvas, in which a first task is seen. */
const BEGINNING = { x: 60, y: 90, zoom: 1 };
const NONE: string[] = [];
const NO_ISSUES: Issue[] = [];

export interface CanvasProps {
  graph: Graph;
  selected?: string[];
  /** The tasks the chat changed last: they are brought into view. */
  touched?: string[];
  issues?: readonly Issue[];
  /** Planned tasks that are not in the graph yet. */
  ghosts?: Graph | undefined;
  run: RunState | undefined;
  /** The task another is to be connected to. */
  linking?: string | undefined;
  /** The changes a person can make; none where an earlier version is shown. */
  actions?: CanvasActions;
  children?: ReactNode;
}

export interface CanvasActions extends NodeActions {
  moved: (places: ReadonlyMap<string, Point>) => void;
  connect: (from: string, to: string) => void;
  disconnect: (from: string, to: string) => void;
  /** A new task, at a place, reading a task or none. */
  add: (at: Point, reads: string[]) => void;
  /** Selects the tasks of a group. */
  chooseGroup: (name: string) => void;
  clear: () => void;
}

/** The tasks of a workflow and the arrows between them. */
export function Canvas(props: CanvasProps) {
  return (
    <ReactFlowProvider>
      <Drawing {...props} />
    </ReactFlowProvider>
  );
}

function Drawing({ selected = NONE, touched = NONE, issues = NO_ISSUES, children, ...props }: CanvasProps) {
  const { graph, ghosts, run, linking, actions } = props;
  const flow = useReactFlow();
  const [dragged, setDragged] = useState<ReadonlyMap<string, Point>>(new Map());
  const nodes = useNodes({ ...props, selected, touched, issues }, dragged);
  const edges = useMemo(
    () => [...drawnEdges(graph, actions, run), ...(ghosts ? drawnEdges(ghosts, undefined, undefined, 'ghost-') : [])],
    [graph, actions, run, ghosts],
  );
  const frames = useMemo(() => framesOf(graph, dragged), [graph, dragged]);
  const fit = useFitting(graph, selected, touched, ghosts);
  const changed = useCallback((changes: NodeChange[]) => {
    const moves = changes.flatMap((change) =>
      change.type === 'position' && change.dragging && change.position ? [[change.id, change.position] as const] : [],
    );
    if (moves.length > 0) setDragged((old) => new Map([...old, ...moves]));
  }, []);
  const dropped = (): void => {
    if (dragged.size > 0) actions?.moved(dragged);
    setDragged(new Map());
  };
  const isValid = useCallback(
    ({ source, target }: Connection | FlowEdge) => linkRefusal(graph, source, target) === undefined,
    [graph],
  );
  const ended: OnConnectEnd = (event, state) => {
    if (state.isValid || !state.fromNode || state.fromHandle?.type !== 'source' || !actions) return;
    // Connecting says why it is refused.
    if (state.toNode) {
      actions.connect(state.fromNode.id, state.toNode.id);
      return;
    }
    const { clientX, clientY } =
      'changedTouches' in event ? (event.changedTouches[0] ?? { clientX: 0, clientY: 0 }) : event;
    actions.add(flow.screenToFlowPosition({ x: clientX, y: clientY - 40 }), [state.fromNode.id]);
  };
  return (
    <div
      className={`${shared.canvas} ${css.canvas}`}
      role="group"
      aria-label={t('Tasks and their links')}
      data-linking={linking ? true : undefined}
    >
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={NODES}
        edgeTypes={EDGES}
        onNodesChange={changed}
        onNodeDragStop={dropped}
        onConnect={({ source, target }) => actions?.connect(source, target)}
        onConnectEnd={ended}
        isValidConnection={isValid}
        onPaneClick={() => actions?.clear()}
        onDoubleClick={(event) => {
          if ((event.target as Element).classList.contains('react-flow__pane'))
            actions?.add(flow.screenToFlowPosition({ x: event.clientX - 116, y: event.clientY - 41 }), []);
        }}
        nodesDraggable={actions !== undefined}
        nodesConnectable={actions !== undefined}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        deleteKeyCode={null}
        zoomOnDoubleClick={false}
        onlyRenderVisibleElements={graph.tasks.length > 60}
        minZoom={0.05}
        maxZoom={1.4}
        onInit={() => fit(0)}
        defaultViewport={BEGINNING}
        proOptions={{ hideAttribution: true }}
        ariaLabelConfig={FLOW_WORDS}
      >
        <Background gap={22} size={1} />
        <Frames frames={frames} choose={actions?.chooseGroup} />
        <Controls showInteractive={false} fitViewOptions={FIT} />
      </ReactFlow>
      {children}
    </div>
  );
}
