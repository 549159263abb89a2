import { IconX } from '@tabler/icons-react';
import { BaseEdge, type Edge as FlowEdge, EdgeLabelRenderer, type EdgeProps, getBezierPath } from '@xyflow/react';
import { memo, useState } from 'react';
import { lanePath } from '../../workflow/route';
import css from './Canvas.module.css';
import { t } from '../../words/t';

export type EdgeData = {
  name: string;
  cut: (() => void) | undefined;
  /** The height at which it passes the tasks in its way. */
  lane: number | undefined;
  /** The condition it stands for. */
  label: string | undefined;
};

/** The arrow from a task to one that reads it. A pointer can cut it here, the keyboard in the form of the task. */
export const Edge = memo(function Edge({
  id,
  sourceX,
  sourceY,
  targetX,
  targetY,
  sourcePosition,
  targetPosition,
  style,
  markerEnd,
  data,
}: EdgeProps<FlowEdge<EdgeData>>) {
  const [curve, curveX, curveY] = getBezierPath({
    sourceX,
    sourceY,
    targetX,
    targetY,
    sourcePosition,
    targetPosition,
  });
  const lane = data?.lane;
  const path = lane === undefined ? curve : lanePath({ x: sourceX, y: sourceY }, { x: targetX, y: targetY }, lane);
  const [x, y] = lane === undefined ? [curveX, curveY] : [(sourceX + targetX) / 2, lane];
  const [isNear, setNear] = useState(false);
  return (
    <>
      <g onPointerEnter={() => setNear(true)} onPointerLeave={() => setNear(false)}>
        <BaseEdge
          id={id}
          path={path}
          interactionWidth={24}
          {...(style ? { style } : {})}
          {...(markerEnd ? { markerEnd } : {})}
        />
      </g>
      {data?.label ? (
        <EdgeLabelRenderer>
          <span
            className={css.condition}
            title={data.label}
            style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}
          >
            {data.label}
          </span>
        </EdgeLabelRenderer>
      ) : null}
      {data?.cut ? (
        <EdgeLabelRenderer>
          <button
            type="button"
            tabIndex={-1}
            className={`nodrag nopan ${css.cut}`}
            data-near={isNear || undefined}
            aria-label={t('Disconnect {name}', { name: data.name })}
            title={t('Disconnect {name}', { name: data.name })}
            style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}
            onClick={data.cut}
            onPointerEnter={() => setNear(true)}
            onPointerLeave={() => setNear(false)}
          >
            <IconX size={12} stroke={2.4} aria-hidden />
          </button>
        </EdgeLabelRenderer>
      ) : null}
    </>
  );
});
