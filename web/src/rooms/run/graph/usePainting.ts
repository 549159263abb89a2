import { useComputedColorScheme } from '@mantine/core';
import { type ReactFlowState, useStoreApi } from '@xyflow/react';
import { type RefObject, useEffect, useRef } from 'react';
import type { Colour, View } from './scene';

export const viewOf = ({ transform: [x, y, zoom], width, height }: ReactFlowState): View => ({
  x,
  y,
  zoom,
  width,
  height,
});

/** Paints a canvas now, whenever the view moves, and whenever `draw` is another function. */
export function usePainting(
  draw: (pen: CanvasRenderingContext2D, view: View, colour: Colour, density: number) => void,
): RefObject<HTMLCanvasElement | null> {
  const canvas = useRef<HTMLCanvasElement>(null);
  const store = useStoreApi();
  const scheme = useComputedColorScheme('light');
  useEffect(() => {
    const pen = canvas.current?.getContext('2d');
    if (!pen || !canvas.current) return;
    const colour = colours(canvas.current, scheme);
    let waiting: number | undefined;
    const now = (): void => {
      waiting = undefined;
      draw(pen, viewOf(store.getState()), colour, devicePixelRatio);
    };
    const soon = (): void => {
      waiting ??= requestAnimationFrame(now);
    };
    now();
    const unsubscribe = store.subscribe((state, old) => {
      if (state.transform !== old.transform || state.width !== old.width || state.height !== old.height) soon();
    });
    return () => {
      unsubscribe();
      if (waiting !== undefined) cancelAnimationFrame(waiting);
    };
  }, [draw, store, scheme]);
  return canvas;
}

/** The colours of the style sheet, each for light and dark; a canvas takes only one. */
function colours(element: Element, scheme: 'light' | 'dark'): Colour {
  const style = getComputedStyle(element);
  const known = new Map<string, string>();
  return (name) => {
    const found = known.get(name);
    if (found !== undefined) return found;
    const text = style.getPropertyValue(`--${name}`).trim();
    const pair = /^light-dark\(([^,]+),([^)]+)\)$/.exec(text);
    const one = (pair ? (scheme === 'dark' ? pair[2] : pair[1]) : text)?.trim() ?? '';
    known.set(name, one);
    return one;
  };
}
