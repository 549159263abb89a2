import { useReactFlow } from '@xyflow/react';
import { type PointerEvent, useCallback, useMemo } from 'react';
import css from './Graph.module.css';
import { boundsOf, paint, paintSmall, type Scene } from './scene';
import { usePainting } from './usePainting';
import { t } from '../../../words/t';

/** The arrows of a large run, and its tasks while they are small; below what the page draws itself. */
export function Sheet({ scene }: { scene: Scene }) {
  const canvas = usePainting(
    useCallback(
      (pen, view, colour, density) => {
        const { width, height, x, y, zoom } = view;
        const element = pen.canvas;
        const [wide, high] = [Math.round(width * density), Math.round(height * density)];
        // A canvas that is given its size is empty; one of the same size is only wiped.
        if (element.width !== wide) element.width = wide;
        if (element.height !== high) element.height = high;
        pen.setTransform(1, 0, 0, 1, 0, 0);
        pen.clearRect(0, 0, wide, high);
        pen.setTransform(density * zoom, 0, 0, density * zoom, density * x, density * y);
        paint(pen, scene, view, colour);
      },
      [scene],
    ),
  );
  return <canvas ref={canvas} className={css.sheet} role="img" aria-label={describe(scene)} />;
}

const WORDS = {
  FAILED: t('failed'),
  WAITING: t('waiting'),
  RUNNING: t('running'),
  COMPLETED: t('completed'),
};

function describe({ tasks }: Scene): string {
  const counts = Object.entries(WORDS)
    .map(([status, word]) => ({ word, number: tasks.filter((task) => task.status === status).length }))
    .filter(({ number }) => number > 0)
    .map(({ word, number }) => `${number} ${word}`);
  const all = t('{count} tasks', { count: tasks.length });
  return t('{what}. Zoom in to choose one.', { what: counts.length > 0 ? `${all}: ${counts.join(', ')}` : all });
}

const SMALL = { width: 200, height: 132 };

/** The whole run, small; a press or a drag shows that part of it. */
export function SmallMap({ scene }: { scene: Scene }) {
  const { setCenter, getZoom } = useReactFlow();
  const bounds = useMemo(() => boundsOf(scene.places), [scene.places]);
  const scale = Math.min(SMALL.width / bounds.width, SMALL.height / bounds.height);
  const [width, height] = [Math.ceil(bounds.width * scale), Math.ceil(bounds.height * scale)];
  const canvas = usePainting(
    useCallback(
      (pen, view, colour, density) => {
        Object.assign(pen.canvas, { width: width * density, height: height * density });
        pen.setTransform(density, 0, 0, density, 0, 0);
        paintSmall(pen, scene, view, { bounds, scale, colour });
      },
      [scene, bounds, scale, width, height],
    ),
  );
  const look = (event: PointerEvent<HTMLCanvasElement>): void => {
    if (event.buttons !== 1) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const { left, top } = event.currentTarget.getBoundingClientRect();
    const at = { x: bounds.x + (event.clientX - left) / scale, y: bounds.y + (event.clientY - top) / scale };
    void setCenter(at.x, at.y, { zoom: getZoom() });
  };
  return (
    <canvas
      ref={canvas}
      className={`nopan ${css.small}`}
      style={{ width, height }}
      role="img"
      aria-label={t('A small map of the run')}
      onPointerDown={look}
      onPointerMove={look}
    />
  );
}
