// The links of a run as they are drawn.

import { type Edge as FlowEdge, MarkerType } from '@xyflow/react';
import type { Task } from '../../../run/state';
import type { Edge } from './layout';
import type { Router } from './route';
import type { Scene } from './scene';
import { linkText } from '../../../ui/flowWords';

/** Whether a link is worth drawing where all of them would hide the tasks. */
export const isNear = ({ from, to }: Edge, chosen: number, tasks: readonly Task[]): boolean =>
  [from, to].some((index) => index === chosen || tasks[index - 1]?.status === 'RUNNING');

const flows = ({ to }: Edge, tasks: readonly Task[]): boolean => tasks[to - 1]?.status === 'RUNNING';

export const arrowsOf = (links: readonly Edge[], tasks: readonly Task[], way: Router): Scene['arrows'] =>
  links.map((link) => ({
    corners: way(link.from, link.to),
    isDashed: link.kind !== 'reads',
    isFlowing: flows(link, tasks),
  }));

export function drawnEdge(link: Edge, tasks: readonly Task[], way: Router): FlowEdge {
  const isFlowing = flows(link, tasks);
  const color = isFlowing ? 'var(--running)' : 'var(--link)';
  return {
    id: `${link.from}-${link.to}`,
    type: 'link',
    source: String(link.from),
    target: String(link.to),
    ariaLabel: linkText(link.from, link.to),
    animated: isFlowing,
    data: { corners: way(link.from, link.to) },
    style: { stroke: color, strokeWidth: 1.5, ...(link.kind === 'reads' ? {} : { strokeDasharray: '4 4' }) },
    markerEnd: { type: MarkerType.ArrowClosed, color, width: 16, height: 16 },
  };
}
