import '@xyflow/react/dist/style.css';
import { MarkerType, Position, ReactFlow } from '@xyflow/react';
import type { Workflow } from '../../api/types';
import { edges, layout, type Linked, NODE_HEIGHT, NODE_WIDTH } from '../run/graph/layout';
import type { OwnTask } from './draft';
import { FLOW_WORDS, linkText } from '../../ui/flowWords';
import { t } from '../../words/t';

/** The graph the composed tasks make. */
export default function Sketch({ tasks, workflow }: { tasks: OwnTask[]; workflow: '' | Workflow }) {
  const numbers = new Map(tasks.map(({ id }, position) => [id, position + 1]));
  const linked: Linked[] = tasks.map((task, position) => ({
    index: position + 1,
    context: task.context.flatMap((id) => numbers.get(id) ?? []),
  }));
  const isLinked = tasks.some(({ context }) => context.length > 0);
  const links = edges(linked, workflow || (isLinked ? 'PARALLEL' : 'SEQUENTIAL'));
  const places = layout(linked, links);
  const nodes = tasks.map((task, position) => ({
    id: String(position + 1),
    position: places.get(position + 1) ?? { x: 0, y: 0 },
    width: NODE_WIDTH,
    height: NODE_HEIGHT,
    sourcePosition: Position.Right,
    targetPosition: Position.Left,
    data: { label: task.name || t('Task {position}', { position: position + 1 }) },
    style: {
      width: NODE_WIDTH,
      display: 'grid',
      placeItems: 'center',
      background: 'var(--surface)',
      color: 'var(--ink)',
      borderColor: 'var(--line-strong)',
      borderRadius: 8,
      fontSize: 18,
    },
  }));
  const drawn = links.map(({ from, to, kind }) => ({
    id: `${from}-${to}`,
    source: String(from),
    target: String(to),
    ariaLabel: linkText(from, to),
    style: { stroke: 'var(--ink-muted)', ...(kind === 'reads' ? {} : { strokeDasharray: '4 4' }) },
    markerEnd: { type: MarkerType.ArrowClosed, color: 'var(--ink-muted)' },
  }));
  return (
    <ReactFlow
      key={JSON.stringify(links) + tasks.length}
      nodes={nodes}
      edges={drawn}
      fitView
      fitViewOptions={{ padding: 0.15, maxZoom: 0.8 }}
      nodesDraggable={false}
      nodesConnectable={false}
      nodesFocusable={false}
      edgesFocusable={false}
      elementsSelectable={false}
      proOptions={{ hideAttribution: true }}
      ariaLabelConfig={FLOW_WORDS}
      aria-label={t('The graph of your tasks')}
    />
  );
}
