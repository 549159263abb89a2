import { type ReactFlowState, useStore } from '@xyflow/react';
import { useMemo } from 'react';
import { DETAIL_ZOOM, type Rectangle } from './scene';

/** Pixels by which the area grows and moves at once, so that not every picture of a drag makes another one. */
const STEP = 250;

/** The part of the canvas whose tasks are drawn one by one; none while all of them are painted. */
export type Area = Rectangle | undefined;

/** The seen part of the canvas and some of what is beside it. */
export function useArea(): Area {
  const key = useStore(keyOf);
  return useMemo(() => (key === '' ? undefined : rectangle(key)), [key]);
}

function keyOf({ transform: [x, y, zoom], width, height }: ReactFlowState): string {
  if (width === 0 || zoom < DETAIL_ZOOM) return '';
  const [left, top] = [Math.floor(-x / zoom / STEP), Math.floor(-y / zoom / STEP)];
  const [right, bottom] = [Math.ceil((width - x) / zoom / STEP), Math.ceil((height - y) / zoom / STEP)];
  return [left, top, right, bottom].join();
}

function rectangle(key: string): Rectangle {
  const [left = 0, top = 0, right = 0, bottom = 0] = key.split(',').map((part) => Number(part) * STEP);
  return { x: left, y: top, width: right - left, height: bottom - top };
}
