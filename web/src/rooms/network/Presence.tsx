import type { Ensemble, Presence } from './ensembles';
import css from './Network.module.css';

export const PRESENCES: Record<Presence, { word: string; tone: string }> = {
  here: { word: 'this ensemble', tone: 'here' },
  available: { word: 'available', tone: 'good' },
  busy: { word: 'busy', tone: 'warn' },
  draining: { word: 'draining', tone: 'warn' },
  gone: { word: 'gone', tone: 'bad' },
  unreached: { word: 'not reached', tone: 'idle' },
};

/** The used part of its capacity for others' work. */
export function Load({ load: { share, max } }: { load: NonNullable<Ensemble['load']> }) {
  const taken = Math.round(share * max);
  const text = max > 0 ? `${taken} of ${max} at work` : `${Math.round(100 * share)} % busy`;
  return (
    <span className={css.load}>
      <span className={css.bar} aria-hidden>
        <i
          data-tone={share >= 1 ? 'bad' : share > 0.8 ? 'warn' : 'good'}
          style={{ width: `${Math.min(100, 100 * share)}%` }}
        />
      </span>
      {text}
    </span>
  );
}
