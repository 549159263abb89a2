import { ago, countdown, duration, moment } from './format';
import { useNow } from './useNow';
import { t } from '../words/t';

const full = (iso: string): string => new Date(iso).toLocaleString();

export function Ago({ at }: { at: string }) {
  const now = useNow();
  return (
    <time dateTime={at} title={full(at)}>
      {ago(now - Date.parse(at))}
    </time>
  );
}

/** The duration from one time to another, or until now. */
export function Duration({ from, to }: { from: string; to?: string | undefined }) {
  return to === undefined ? <Since from={from} /> : <span>{duration(Date.parse(to) - Date.parse(from))}</span>;
}

function Since({ from }: { from: string }) {
  const now = useNow();
  return <span>{duration(Math.max(0, Math.floor((now - Date.parse(from)) / 1_000) * 1_000))}</span>;
}

export function Countdown({ to }: { to: string }) {
  const now = useNow();
  const left = Date.parse(to) - now;
  return (
    <time dateTime={to} title={full(to)}>
      {left > 0 ? countdown(left) : t('due')}
    </time>
  );
}

/** A time to come, by how long it takes until then. */
export function Until({ at }: { at: string }) {
  const left = Date.parse(at) - useNow();
  return (
    <time dateTime={at} title={full(at)}>
      {left > 0 ? t('in {time}', { time: duration(Math.ceil(left / 1_000) * 1_000) }) : t('due')}
    </time>
  );
}

/** A time by the calendar and the clock, as it is here; it says so next to times of another `zone`. */
export function Moment({ at, zone }: { at: string; zone?: string | undefined }) {
  const here = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <time dateTime={at} title={full(at)} translate="no">
      {moment(at, zone === undefined || zone === here ? 'own' : 'named')}
    </time>
  );
}
