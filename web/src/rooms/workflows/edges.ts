// The arrows between the tasks of the canvas.

import { type Edge as FlowEdge, MarkerType } from '@xyflow/react';
import type { RunState } from '../../run/state';
import { givenNames } from '../../workflow/convert';
import { type Graph, groupOf, titleOf } from '../../workflow/graph';
import { links } from '../../workflow/place';
import { lane } from '../../workflow/route';
import { type Edge as LinkEdge, NODE_HEIGHT, NODE_WIDTH } from '../run/graph/layout';
import type { CanvasActions } from './Canvas';
import type { EdgeData } from './Edge';
import { t } from '../../words/t';
import { linkText } from '../../ui/flowWords';

/** Tasks beyond which arrows are drawn straight: there is no way around so many. */
const ROUTED_MAX = 100;

const SIZE = { width: NODE_WIDTH, height: NODE_HEIGHT };

function laneOf({ tasks }: Graph, from: string, to: string): number | undefined {
  const [source, target] = [tasks.find(({ id }) => id === from), tasks.find(({ id }) => id === to)];
  if (!source || !target) return undefined;
  const others = tasks.filter((task) => task !== source && task !== target).map(({ at }) => at);
  return lane(source.at, target.at, others, SIZE);
}

const COLOURS: Partial<Record<LinkEdge['kind'], string>> = {
  reads: 'var(--ink-muted)',
  again: 'var(--accent)',
  decides: 'var(--second)',
};

/** Pixels above its tasks at which an arrow leads back to the next round. */
const ABOVE = 6;

/** The height of an arrow that leads back. */
function aboveOf({ tasks }: Graph, from: string, to: string): number {
  return Math.min(...tasks.filter(({ id }) => id === from || id === to).map(({ at }) => at.y)) - ABOVE;
}

/** The condition or the list that decides about a task, or about its group. */
function conditionOf(graph: Graph, id: string): string {
  const [task, group] = [graph.tasks.find((each) => each.id === id), groupOf(graph, id)];
  return [task?.when, task?.forEach, group?.when, group?.forEach].find((text) => text?.trim()) ?? '';
}

export function drawnEdges(
  graph: Graph,
  actions: CanvasActions | undefined,
  run: RunState | undefined,
  prefix = '',
): FlowEdge<EdgeData>[] {
  const states = new Map(run?.tasks.map((task) => [task.name, task.status]));
  const names = givenNames(graph.tasks);
  const isLarge = graph.tasks.length > ROUTED_MAX;
  return links(graph).map(({ from, to, kind }) => {
    const flows = states.get(names[graph.tasks.findIndex(({ id }) => id === to)] ?? '') === 'RUNNING';
    const color = flows ? 'var(--running)' : (COLOURS[kind] ?? 'var(--link)');
    return {
      id: `${prefix}${from}-${to}-${kind}`,
      type: 'link',
      source: prefix + from,
      target: prefix + to,
      ariaLabel: linkText(titleOf(graph, from), titleOf(graph, to)),
      animated: flows,
      style: {
        stroke: color,
        strokeWidth: 1.5,
        ...(kind === 'reads' ? {} : { strokeDasharray: '4 4' }),
        ...(prefix ? { opacity: 0.5 } : {}),
      },
      markerEnd: { type: MarkerType.ArrowClosed, color, width: 16, height: 16 },
      data: {
        name: t('{task} from {task2}', { task: titleOf(graph, to), task2: titleOf(graph, from) }),
        cut: (kind === 'reads' || kind === 'again') && actions ? () => actions.disconnect(from, to) : undefined,
        lane: isLarge ? undefined : kind === 'again' ? aboveOf(graph, from, to) : laneOf(graph, from, to),
        label: kind === 'decides' ? conditionOf(graph, to) : undefined,
      },
    };
  });
}
