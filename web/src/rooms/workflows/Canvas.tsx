import '@xyflow/react/dist/style.css';
import {
  Background,
  type Connection,
  Controls,
  type Edge as FlowEdge,
  MarkerType,
  type NodeChange,
  type OnConnectEnd,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  useStoreApi,
} from '@xyflow/react';
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { RunState } from '../../run/state';
import type { Trouble } from '../../workflow/check';
import { givenNames } from '../../workflow/convert';
import { type Graph, type Place, refusal, titleOf } from '../../workflow/graph';
import { links } from '../../workflow/place';
import shared from '../../ui/Canvas.module.css';
import { grouped } from '../../ui/grouped';
import { NODE_WIDTH } from '../run/graph/layout';
import css from './Canvas.module.css';
import { Edge, type EdgeData } from './Edge';
import { kept, Node, node, type NodeActions, type NodeType } from './Node';

const NODES = { task: Node };
const EDGES = { link: Edge };
const FIT = {
  padding: { top: '60px', right: '28px', bottom: '28px', left: '28px' } as const,
  maxZoom: 1,
  minZoom: 0.1,
};
/** Where a first task is seen. */
const BEGINNING = { x: 60, y: 90, zoom: 1 };
/** Below this nothing can be read: a part is shown instead of everything. */
const READABLE = 0.5;
const PAN_MS = 250;

export interface CanvasProps {
  graph: Graph;
  chosen: string[];
  /** What the chat changed last: brought into view. */
  fresh: string[];
  troubles: readonly Trouble[];
  /** Tasks that are planned and not yet here. */
  ghosts: Graph | undefined;
  run: RunState | undefined;
  /** The task another is to be connected to. */
  linking: string | undefined;
  /** How it can be changed; not at all when an old version is looked at. */
  actions: CanvasActions | undefined;
  children?: ReactNode;
}

export interface CanvasActions extends NodeActions {
  moved: (places: ReadonlyMap<string, Place>) => void;
  connect: (from: string, to: string) => void;
  disconnect: (from: string, to: string) => void;
  /** A new task, at a place, reading a task or none. */
  add: (at: Place, reads: string[]) => void;
  clear: () => void;
}

/** The tasks with what leads from one to another, to be changed. */
export function Canvas(props: CanvasProps) {
  return (
    <ReactFlowProvider>
      <Drawing {...props} />
    </ReactFlowProvider>
  );
}

function Drawing({ graph, chosen, fresh, troubles, ghosts, run, linking, actions, children }: CanvasProps) {
  const flow = useReactFlow();
  const [dragged, setDragged] = useState<ReadonlyMap<string, Place>>(new Map());
  const nodes = useNodes({ graph, chosen, fresh, troubles, ghosts, run, linking, actions }, dragged);
  const edges = useMemo(
    () => [...drawnEdges(graph, actions, run), ...(ghosts ? drawnEdges(ghosts, undefined, undefined, 'ghost-') : [])],
    [graph, actions, run, ghosts],
  );
  const fit = useFitting(graph, chosen, fresh, ghosts);
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
    ({ source, target }: Connection | FlowEdge) => refusal(graph, source, target) === undefined,
    [graph],
  );
  const ended: OnConnectEnd = (event, state) => {
    if (state.isValid || state.toNode || !state.fromNode || state.fromHandle?.type !== 'source' || !actions) return;
    const { clientX, clientY } =
      'changedTouches' in event ? (event.changedTouches[0] ?? { clientX: 0, clientY: 0 }) : event;
    actions.add(flow.screenToFlowPosition({ x: clientX, y: clientY - 40 }), [state.fromNode.id]);
  };
  return (
    <div
      className={`${shared.canvas} ${css.canvas}`}
      role="group"
      aria-label="Tasks and their links"
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
      >
        <Background gap={22} size={1} />
        <Controls showInteractive={false} fitViewOptions={FIT} />
      </ReactFlow>
      {children}
    </div>
  );
}

type Seen = Omit<CanvasProps, 'children'>;

/** The nodes, each the same object as long as it looks the same: a thousand of them are not drawn anew for one. */
function useNodes(
  { graph, chosen, fresh, troubles, ghosts, run, linking, actions }: Seen,
  dragged: ReadonlyMap<string, Place>,
): NodeType[] {
  const [known, setKnown] = useState<NodeType[]>([]);
  const next = useMemo(() => {
    const names = givenNames(graph.tasks);
    const running = new Map(run?.tasks.map((task) => [task.name, task]));
    const wrong = grouped(troubles, ({ task }) => task);
    const here = graph.tasks.map((task, position) => {
      const ran = running.get(names[position] ?? '');
      return node(
        {
          task,
          title: titleOf(graph, task.id),
          reads: task.reads.map((id) => titleOf(graph, id)).join(', '),
          troubles: (wrong.get(task.id) ?? []).map(({ message }) => message).join('; '),
          isChosen: chosen.includes(task.id),
          isFresh: fresh.includes(task.id),
          isGhost: false,
          isLinking: linking === task.id,
          ran,
          conversation: ran && run?.conversations.get(String(ran.index)),
          actions,
        },
        dragged.get(task.id) ?? task.at,
      );
    });
    const planned = (ghosts?.tasks ?? []).map((task) =>
      node(
        {
          task,
          title: task.name,
          reads: '',
          troubles: '',
          isChosen: false,
          isFresh: false,
          isGhost: true,
          isLinking: false,
          ran: undefined,
          conversation: undefined,
          actions: undefined,
        },
        task.at,
        'ghost-',
      ),
    );
    return [...here, ...planned];
  }, [graph, chosen, fresh, troubles, ghosts, run, linking, actions, dragged]);
  const nodes = useMemo(() => {
    const old = new Map(known.map((each) => [each.id, each]));
    return next.map((each) => kept(old.get(each.id), each));
  }, [next, known]);
  const isSame = nodes.length === known.length && nodes.every((each, position) => each === known[position]);
  if (!isSame) setKnown(nodes);
  return isSame ? known : nodes;
}

function drawnEdges(
  graph: Graph,
  actions: CanvasActions | undefined,
  run: RunState | undefined,
  prefix = '',
): FlowEdge<EdgeData>[] {
  const states = new Map(run?.tasks.map((task) => [task.name, task.status]));
  const names = givenNames(graph.tasks);
  return links(graph).map(({ from, to, kind }) => {
    const flows = states.get(names[graph.tasks.findIndex(({ id }) => id === to)] ?? '') === 'RUNNING';
    const color = flows ? 'var(--running)' : kind === 'reads' ? 'var(--ink-muted)' : 'var(--line-strong)';
    return {
      id: `${prefix}${from}-${to}-${kind}`,
      type: 'link',
      source: prefix + from,
      target: prefix + to,
      animated: flows,
      style: {
        stroke: color,
        strokeWidth: 1.5,
        ...(kind === 'reads' ? {} : { strokeDasharray: '4 4' }),
        ...(prefix ? { opacity: 0.5 } : {}),
      },
      markerEnd: { type: MarkerType.ArrowClosed, color, width: 16, height: 16 },
      data: {
        name: `${titleOf(graph, to)} from ${titleOf(graph, from)}`,
        cut: kind === 'reads' && actions ? () => actions.disconnect(from, to) : undefined,
      },
    };
  });
}

/** The tasks a small canvas begins with: the chosen ones with what they read, or the first. */
function part(graph: Graph, chosen: string[], room: number): string[] {
  const near = graph.tasks.filter(
    ({ id, reads }) =>
      chosen.includes(id) ||
      chosen.some((each) => graph.tasks.find((task) => task.id === each)?.reads.includes(id) || reads.includes(each)),
  );
  const left = Math.min(...(near.length > 0 ? near : graph.tasks).map(({ at }) => at.x));
  const within = (near.length > 0 ? near : graph.tasks).filter(({ at }) => at.x + NODE_WIDTH - left <= room);
  return (within.length > 0 ? within : graph.tasks.slice(0, 1)).map(({ id }) => id);
}

/** Shows everything, or a readable part of it, when a drawing is opened and again when the chat has changed it. */
function useFitting(
  graph: Graph,
  chosen: string[],
  fresh: string[],
  ghosts: Graph | undefined,
): (duration: number) => void {
  const flow = useReactFlow();
  const store = useStoreApi();
  const planned = ghosts?.tasks.length ?? 0;
  const fit = useCallback(
    (duration: number) => {
      if (graph.tasks.length + planned === 0) return;
      const places = graph.tasks.map(({ at }) => at.x);
      const room = store.getState().width - 56;
      const isReadable = planned > 0 || room >= READABLE * (Math.max(...places) - Math.min(...places) + NODE_WIDTH);
      const wanted = fresh.length > 0 ? fresh : chosen;
      void flow.fitView({
        ...FIT,
        duration,
        ...(isReadable ? {} : { nodes: part(graph, wanted, room / READABLE).map((id) => ({ id })) }),
      });
    },
    [flow, store, graph, chosen, fresh, planned],
  );
  const latest = useRef(fit);
  useEffect(() => {
    latest.current = fit;
  }, [fit]);
  useEffect(() => {
    if (fresh.length === 0 && planned === 0) return undefined;
    const duration = matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : PAN_MS;
    // The nodes are there after the next picture.
    const frame = requestAnimationFrame(() => latest.current(duration));
    return () => cancelAnimationFrame(frame);
  }, [fresh, planned]);
  return fit;
}
