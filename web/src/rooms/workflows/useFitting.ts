import { useReactFlow, useStoreApi } from '@xyflow/react';
import { useCallback, useEffect, useRef } from 'react';
import type { Graph } from '../../workflow/graph';
import { NODE_WIDTH } from '../run/graph/layout';

export const FIT = {
  padding: { top: '60px', right: '28px', bottom: '28px', left: '28px' } as const,
  maxZoom: 1,
  minZoom: 0.1,
};
/** The zoom below which nothing can be read: a part is shown instead of everything. */
const READABLE = 0.5;
const PAN_MS = 250;

/** The tasks a small canvas begins with: the selected ones with what they read, or the first. */
function part(graph: Graph, selected: string[], room: number): string[] {
  const near = graph.tasks.filter(
    ({ id, reads }) =>
      selected.includes(id) ||
      selected.some((each) => graph.tasks.find((task) => task.id === each)?.reads.includes(id) || reads.includes(each)),
  );
  const left = Math.min(...(near.length > 0 ? near : graph.tasks).map(({ at }) => at.x));
  const within = (near.length > 0 ? near : graph.tasks).filter(({ at }) => at.x + NODE_WIDTH - left <= room);
  return (within.length > 0 ? within : graph.tasks.slice(0, 1)).map(({ id }) => id);
}

/** Shows everything, or a readable part of it, when a drawing is opened and again when the chat has changed it. */
export function useFitting(
  graph: Graph,
  selected: string[],
  touched: string[],
  ghosts: Graph | undefined,
): (duration: number) => void {
  const flow = useReactFlow();
  const store = useStoreApi();
  const planned = ghosts?.tasks.length ?? 0;
  const fit = useCallback(
    (duration: number) => {
      if (graph.tasks.length + planned === 0) return;
      const places = graph.tasks.map(({ at }) => at.x);
      const room = store.getState().width - 56;
      const isReadable = planned > 0 || room >= READABLE * (Math.max(...places) - Math.min(...places) + NODE_WIDTH);
      const wanted = touched.length > 0 ? touched : selected;
      void flow.fitView({
        ...FIT,
        duration,
        ...(isReadable ? {} : { nodes: part(graph, wanted, room / READABLE).map((id) => ({ id })) }),
      });
    },
    [flow, store, graph, selected, touched, planned],
  );
  const latest = useRef(fit);
  useEffect(() => {
    latest.current = fit;
  }, [fit]);
  useEffect(() => {
    if (touched.length === 0 && planned === 0) return undefined;
    const duration = matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : PAN_MS;
    // The nodes are there after the next picture.
    const frame = requestAnimationFrame(() => latest.current(duration));
    return () => cancelAnimationFrame(frame);
  }, [touched, planned]);
  return fit;
}
