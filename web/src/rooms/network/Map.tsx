import '@xyflow/react/dist/style.css';
import { Background, Controls, type Edge, MarkerType, type Node, ReactFlow } from '@xyflow/react';
import { useMemo } from 'react';
import shared from '../../ui/Canvas.module.css';
import { EnsembleNode, type EnsembleNodeData, RealmNode, type RealmNodeData } from './EnsembleNode';
import { type Ensemble, HERE, isAway, key, NODE_HEIGHT, NODE_WIDTH, placed } from './ensembles';
import css from './Network.module.css';

const TYPES = { ensemble: EnsembleNode, realm: RealmNode };
const ORIGIN = { x: 0, y: 0 };

interface MapProps {
  all: Ensemble[];
  chosen: string | undefined;
  /** The tag looked for: who shares nothing with it steps back. */
  tag: string | null;
  choose: (id: string) => void;
}

/** The ensembles and the links between them, by realm. */
export default function Map({ all, chosen, tag, choose }: MapProps) {
  const names = all.map(({ name, realm }) => `${name} ${realm}`).join();
  // Load and links change all the time; the places only when an ensemble comes or goes.
  const { places, realms } = useMemo(() => placed(all), [names]); // oxlint-disable-line react/exhaustive-deps
  const regions = realms.map(({ name, x, y, width, height }): Node<RealmNodeData> => ({
    id: `realm ${name}`,
    type: 'realm',
    position: { x, y },
    width,
    height,
    selectable: false,
    zIndex: -1,
    data: { name },
  }));
  const nodes = all.map((ensemble, position): Node<EnsembleNodeData> => {
    const id = position === 0 ? HERE : key(ensemble.name);
    const isDim = tag !== null && !ensemble.capabilities.some(({ tags }) => tags.includes(tag));
    return {
      id: id || 'here',
      type: 'ensemble',
      position: places.get(id) ?? ORIGIN,
      width: NODE_WIDTH,
      height: NODE_HEIGHT,
      data: { ensemble, isDim, isChosen: chosen === id, choose: () => choose(id) },
    };
  });
  return (
    <div className={`${shared.canvas} ${css.canvas}`} role="group" aria-label="Ensembles and their links">
      <ReactFlow<Node<EnsembleNodeData | RealmNodeData>>
        key={names}
        nodes={[...regions, ...nodes] as Node<EnsembleNodeData | RealmNodeData>[]}
        edges={all.slice(1).map(drawn)}
        nodeTypes={TYPES}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        onlyRenderVisibleElements={all.length > 60}
        minZoom={0.1}
        maxZoom={1.4}
        fitView
        fitViewOptions={{ padding: 0.1, maxZoom: 1 }}
        proOptions={{ hideAttribution: true }}
      >
        <Background gap={22} size={1} />
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  );
}

/** The arrow leads to who was called; a link that is gone is dashed. */
function drawn(ensemble: Ensemble): Edge {
  const color = isAway(ensemble)
    ? 'var(--line-strong)'
    : ensemble.presence === 'available'
      ? 'var(--good)'
      : 'var(--warn)';
  const marker = { type: MarkerType.ArrowClosed, color, width: 16, height: 16 };
  return {
    id: ensemble.name,
    source: 'here',
    target: key(ensemble.name),
    style: { stroke: color, strokeWidth: 1.5, ...(isAway(ensemble) ? { strokeDasharray: '4 5' } : {}) },
    ...(isAway(ensemble) ? {} : ensemble.isDialled ? { markerEnd: marker } : { markerStart: marker }),
  };
}
