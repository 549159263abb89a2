import { ago, countdown, duration } from './format';
import { useNow } from './useNow';

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
      {left > 0 ? countdown(left) : 'due'}
    </time>
  );
}
