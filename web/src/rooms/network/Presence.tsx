import type { Ensemble, Presence } from './ensembles';
import css from './Network.module.css';
import { t } from '../../words/t';

export const PRESENCES: Record<Presence, { word: string; tone: string }> = {
  here: { word: t('this ensemble'), tone: 'here' },
  available: { word: t('available'), tone: 'good' },
  busy: { word: t('busy'), tone: 'warn' },
  draining: { word: t('draining'), tone: 'warn' },
  gone: { word: t('gone'), tone: 'bad' },
  unreached: { word: t('not reached'), tone: 'idle' },
};

/** The used part of its capacity for others' work. */
export function Load({ load: { share, max } }: { load: NonNullable<Ensemble['load']> }) {
  const taken = Math.round(share * max);
  const text =
    max > 0 ? t('{taken} of {max} in use', { taken, max }) : t('{value} % busy', { value: Math.round(100 * share) });
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
