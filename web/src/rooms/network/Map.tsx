import '@xyflow/react/dist/style.css';
import { Background, Controls, type Edge, MarkerType, type Node, ReactFlow } from '@xyflow/react';
import { useMemo } from 'react';
import shared from '../../ui/Canvas.module.css';
import { EnsembleNode, type EnsembleNodeData, RealmNode, type RealmNodeData } from './EnsembleNode';
import { type Ensemble, HERE, isAway, nodeId, NODE_HEIGHT, NODE_WIDTH, layoutMap } from './ensembles';
import css from './Network.module.css';
import { FLOW_WORDS, linkText } from '../../ui/flowWords';
import { t } from '../../words/t';

const TYPES = { ensemble: EnsembleNode, realm: RealmNode };
const ORIGIN = { x: 0, y: 0 };

interface MapProps {
  all: Ensemble[];
  chosen: string | undefined;
  /** The tag looked for: ensembles that share nothing with it are dimmed. */
  tag: string | null;
  choose: (id: string) => void;
}

/** The ensembles and the links between them, by realm. */
export default function Map({ all, chosen, tag, choose }: MapProps) {
  const names = all.map(({ name, realm }) => `${name} ${realm}`).join();
  // Load and links change all the time; the places only when an ensemble comes or goes.
  const { places, realms } = useMemo(() => layoutMap(all), [names]); // oxlint-disable-line react/exhaustive-deps
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
    const id = position === 0 ? HERE : nodeId(ensemble.name);
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
    <div className={`${shared.canvas} ${css.canvas}`} role="group" aria-label={t('Ensembles and their links')}>
      <ReactFlow<Node<EnsembleNodeData | RealmNodeData>>
        key={names}
        nodes={[...regions, ...nodes] as Node<EnsembleNodeData | RealmNodeData>[]}
        edges={all.slice(1).map(edgeOf)}
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
        ariaLabelConfig={FLOW_WORDS}
      >
        <Background gap={22} size={1} />
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  );
}

/** The arrow to an ensemble, from the side that dialled; a link that is gone is dashed. */
function edgeOf(ensemble: Ensemble): Edge {
  const color = isAway(ensemble) ? 'var(--link)' : ensemble.presence === 'available' ? 'var(--good)' : 'var(--warn)';
  const marker = { type: MarkerType.ArrowClosed, color, width: 16, height: 16 };
  return {
    id: ensemble.name,
    source: 'here',
    target: nodeId(ensemble.name),
    ariaLabel: linkText(t('this server'), ensemble.name),
    style: { stroke: color, strokeWidth: 1.5, ...(isAway(ensemble) ? { strokeDasharray: '4 5' } : {}) },
    ...(isAway(ensemble) ? {} : ensemble.isDialled ? { markerEnd: marker } : { markerStart: marker }),
  };
}
