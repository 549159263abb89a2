import { BaseEdge, type Edge as FlowEdge, type EdgeProps } from '@xyflow/react';
import { memo } from 'react';
import type { Point } from '../../../ui/point';
import { pathOf } from './route';

export type LinkData = { corners: Point[] };

/** The arrow from a task to one that comes after it, around all others. */
export const LinkEdge = memo(function LinkEdge({ id, style, markerEnd, data }: EdgeProps<FlowEdge<LinkData>>) {
  if (!data) return null;
  return (
    <BaseEdge id={id} path={pathOf(data.corners)} {...(style ? { style } : {})} {...(markerEnd ? { markerEnd } : {})} />
  );
});
