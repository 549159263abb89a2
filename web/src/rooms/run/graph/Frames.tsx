import { ViewportPortal } from '@xyflow/react';
import type { RunState } from '../../../run/state';
import type { Point } from '../../../ui/point';
import css from './Graph.module.css';
import { boundsOf, type Rectangle } from './scene';
import { t } from '../../../words/t';

/** Pixels between a frame and its tasks; less than between two tasks that are not in it. */
const AROUND = 9;
const TITLE = 24;

export interface Frame extends Rectangle {
  name: string;
  text: string;
}

/** A frame around each group: its name, and the round or the items it is at. */
export function framesOf({ groups, tasks }: RunState, places: ReadonlyMap<number, Point>): Frame[] {
  return groups.map(({ name, tasks: members, when, forEach, repeatUntil, maxRounds }) => {
    const known = members.flatMap((index): [number, Point][] => {
      const place = places.get(index);
      return place ? [[index, place]] : [];
    });
    const { x, y, width, height } = boundsOf(new Map(known));
    const instances = members.flatMap((index) => tasks[index - 1]?.instances ?? []);
    const rounds = Math.max(0, ...instances.map(({ round = -1 }) => round + 1));
    const items = new Set(instances.flatMap(({ item }) => item ?? [])).size;
    const text = [
      ...(when ? [t('when {when}', { when })] : []),
      ...(items > 0 ? [t('{items} items', { items })] : forEach ? [t('for each of {forEach}', { forEach })] : []),
      ...(rounds > 0
        ? [
            maxRounds
              ? t('round {round} of at most {most}', { round: rounds, most: maxRounds })
              : t('round {round}', { round: rounds }),
          ]
        : []),
      ...(repeatUntil ? [t('until {repeatUntil}', { repeatUntil })] : []),
    ].join(' · ');
    return { name, text, ...around({ x, y, width, height }) };
  });
}

/** A frame around tasks, with room for its title. */
export const around = ({ x, y, width, height }: Rectangle): Rectangle => ({
  x: x - AROUND,
  y: y - AROUND - TITLE,
  width: width + 2 * AROUND,
  height: height + 2 * AROUND + TITLE,
});

interface FramesProps {
  frames: readonly Frame[];
  /** The action of a press on the title of one. */
  choose?: ((name: string) => void) | undefined;
}

export function Frames({ frames, choose }: FramesProps) {
  return (
    <ViewportPortal>
      {frames.map(({ name, text, x, y, width, height }) => (
        <div
          key={name}
          className={css.group}
          style={{ left: x, top: y, width, height }}
          role="group"
          aria-label={t('Group {name}', { name })}
        >
          <div className={css.frame} />
          <p title={`${name}${text ? ` · ${text}` : ''}`}>
            {choose ? (
              <button type="button" className="nodrag nopan" onClick={() => choose(name)}>
                {name}
              </button>
            ) : (
              <strong>{name}</strong>
            )}{' '}
            {text}
          </p>
        </div>
      ))}
    </ViewportPortal>
  );
}
