import dagre from '@dagrejs/dagre';
import { type ReactNode, useId, useMemo } from 'react';
import css from './Diagram.module.css';
import { type Flow, type FlowNode, parsed, type Sequence } from './mermaid';
import type { Point } from './point';
import { t } from '../words/t';
import { flowText, linkText } from './flowWords';

/** Pixels of a letter and of a line, as the font draws them. */
const LETTER = 7.4;
const LINE = 36;
const GAP = 16;

/** A diagram of mermaid's notation; one of another kind, or with mistakes, stays the text it is. */
export default function Diagram({ text, children }: { text: string; children: ReactNode }) {
  const found = useMemo(() => parsed(text), [text]);
  if (!found) return children;
  return (
    <figure className={css.figure} tabIndex={0} aria-label={t('Diagram')}>
      {found.kind === 'flow' ? <FlowDrawing flow={found} /> : <SequenceDrawing sequence={found} />}
      <details>
        <summary>{t('Source text')}</summary>
        {children}
      </details>
    </figure>
  );
}

const widthOf = (text: string): number => Math.max(44, text.length * LETTER + 2 * GAP);

function Arrowhead({ id }: { id: string }) {
  return (
    <defs>
      <marker
        id={id}
        viewBox="0 0 10 10"
        refX="9"
        refY="5"
        markerWidth="7"
        markerHeight="7"
        orient="auto-start-reverse"
      >
        <path className={css.head} d="M0 0 10 5 0 10z" />
      </marker>
    </defs>
  );
}

function FlowDrawing({ flow }: { flow: Flow }) {
  const id = useId();
  const { nodes, edges, width, height } = useMemo(() => laidOut(flow), [flow]);
  return (
    <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="img" aria-label={flowText(flow)}>
      <Arrowhead id={id} />
      {edges.map(({ points, text, isDashed, at }, position) => (
        <g key={position}>
          <polyline
            className={css.line}
            data-dashed={isDashed || undefined}
            points={points}
            markerEnd={`url(#${id})`}
          />
          {text ? (
            <text className={css.words} x={at.x} y={at.y - 5}>
              {text}
            </text>
          ) : null}
        </g>
      ))}
      {nodes.map((node) => (
        <g key={node.id}>
          <Shape {...node} />
          <text className={css.name} x={node.x} y={node.y + 4.5}>
            {node.text}
          </text>
        </g>
      ))}
    </svg>
  );
}

type Placed = FlowNode & { x: number; y: number; width: number; height: number };

function Shape({ shape, x, y, width, height }: Placed) {
  const [halfWidth, halfHeight] = [width / 2, height / 2];
  if (shape === 'diamond')
    return (
      <polygon
        className={css.box}
        points={`${x},${y - halfHeight} ${x + halfWidth},${y} ${x},${y + halfHeight} ${x - halfWidth},${y}`}
      />
    );
  return (
    <rect
      className={css.box}
      x={x - halfWidth}
      y={y - halfHeight}
      width={width}
      height={height}
      rx={shape === 'round' ? halfHeight : 5}
    />
  );
}

function laidOut(flow: Flow) {
  const graph = new dagre.graphlib.Graph({ multigraph: true })
    .setGraph({ rankdir: flow.direction, nodesep: 26, ranksep: 44, marginx: 8, marginy: 8 })
    .setDefaultEdgeLabel(() => ({}));
  for (const { id, text, shape } of flow.nodes)
    graph.setNode(id, {
      width: widthOf(text) * (shape === 'diamond' ? 1.5 : 1),
      height: LINE * (shape === 'diamond' ? 1.7 : 1),
    });
  for (const [position, { from, to, text }] of flow.edges.entries())
    graph.setEdge(from, to, { width: text.length * LETTER, height: 18, labelpos: 'c' }, String(position));
  dagre.layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  const nodes = flow.nodes.map((node): Placed => ({ ...node, ...sized(graph.node(node.id)) }));
  const edges = flow.edges.map(({ from, to, text, isDashed }, position) => {
    const { points = [], x, y } = graph.edge(from, to, String(position)) ?? {};
    const middle = points[Math.floor(points.length / 2)] ?? { x: 0, y: 0 };
    return {
      text,
      isDashed,
      points: points.map((point: Point) => `${point.x},${point.y}`).join(' '),
      at: { x: x ?? middle.x, y: y ?? middle.y },
    };
  });
  return { nodes, edges, width: Math.ceil(width), height: Math.ceil(height) };
}

const sized = (node: { x?: number; y?: number; width?: number; height?: number } | undefined) => ({
  x: node?.x ?? 0,
  y: node?.y ?? 0,
  width: node?.width ?? 0,
  height: node?.height ?? 0,
});

function SequenceDrawing({ sequence: { people, said } }: { sequence: Sequence }) {
  const id = useId();
  const step = Math.max(
    120,
    ...people.map(({ name }) => widthOf(name) + GAP),
    ...said.map(({ text }) => widthOf(text)),
  );
  const x = (person: string): number => step / 2 + people.findIndex((each) => each.id === person) * step;
  const [width, height] = [people.length * step, LINE * (said.length + 2)];
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role="img"
      aria-label={said.map(({ from, to, text }) => `${linkText(from, to)}: ${text}`).join('; ')}
    >
      <Arrowhead id={id} />
      {people.map(({ id: person, name }) => (
        <g key={person}>
          <line className={css.line} data-dashed x1={x(person)} x2={x(person)} y1={LINE} y2={height} />
          <rect
            className={css.box}
            x={x(person) - widthOf(name) / 2}
            y={1}
            width={widthOf(name)}
            height={LINE - 4}
            rx={5}
          />
          <text className={css.name} x={x(person)} y={LINE / 2 + 3}>
            {name}
          </text>
        </g>
      ))}
      {said.map(({ from, to, text, isDashed }, position) => {
        const y = LINE * (position + 1.8);
        const end = from === to ? x(from) + 40 : x(to);
        return (
          <g key={position}>
            <line
              className={css.line}
              data-dashed={isDashed || undefined}
              x1={x(from)}
              x2={end}
              y1={y}
              y2={y}
              markerEnd={`url(#${id})`}
            />
            <text className={css.words} x={(x(from) + end) / 2} y={y - 6}>
              {text}
            </text>
          </g>
        );
      })}
    </svg>
  );
}
