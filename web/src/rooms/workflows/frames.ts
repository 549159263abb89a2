// The frames around the groups of the canvas.

import type { Point } from '../../ui/point';
import { find, type Graph } from '../../workflow/graph';
import { around, type Frame } from '../run/graph/Frames';
import { boundsOf } from '../run/graph/scene';
import { t } from '../../words/t';

export function framesOf(graph: Graph, dragged: ReadonlyMap<string, Point>): Frame[] {
  return graph.groups.map(({ name, tasks, when, forEach, repeatUntil }) => {
    const places = tasks.flatMap((id): [string, Point][] => {
      const place = dragged.get(id) ?? find(graph, id)?.at;
      return place ? [[id, place]] : [];
    });
    const text = [
      when.trim() ? t('when {when}', { when }) : '',
      forEach.trim() ? t('for each of {forEach}', { forEach }) : '',
      repeatUntil.trim() ? t('until {repeatUntil}', { repeatUntil }) : '',
    ]
      .filter(Boolean)
      .join(' · ');
    return { name, text, ...around(boundsOf(new Map(places))) };
  });
}
