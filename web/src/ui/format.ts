// Numbers as people read them.

import { locale, number, t } from '../words/t';

export function duration(ms: number): string {
  if (ms < 1_000) return t('{value} ms', { value: Math.max(0, Math.round(ms)) });
  const seconds = ms / 1_000;
  if (seconds < 60) return t('{seconds} s', { seconds: seconds < 10 ? number(seconds, 1) : Math.floor(seconds) });
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return t('{minutes} m {seconds} s', { minutes, seconds: Math.floor(seconds % 60) });
  const hours = Math.floor(minutes / 60);
  return hours < 48
    ? t('{hours} h {minutes} m', { hours, minutes: minutes % 60 })
    : t('{days} d {hours} h', { days: Math.floor(hours / 24), hours: hours % 24 });
}

/** Time left, as a clock. */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  const part = (value: number): string => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${part(minutes)}:${part(seconds % 60)}` : `${minutes}:${part(seconds % 60)}`;
}

export function count(value: number): string {
  if (value < 0) return t('unknown');
  if (value < 10_000) return number(value);
  return value < 1_000_000 ? `${trimmed(value / 1_000)}k` : `${trimmed(value / 1_000_000)}M`;
}

export function bytes(value: number): string {
  if (value < 1_000) return `${value} B`;
  return value < 1e6 ? `${trimmed(value / 1_000)} kB` : `${trimmed(value / 1e6)} MB`;
}

export function money(usd: number): string {
  if (usd === 0) return '$0';
  if (usd < 0.0001) return `<$${number(0.0001, 4)}`;
  return `$${number(usd, usd < 1 ? 4 : 2)}`;
}

export function ago(ms: number): string {
  if (ms < 5_000) return t('just now');
  if (ms < 60_000) return t('{value} s ago', { value: Math.floor(ms / 1_000) });
  if (ms < 3_600_000) return t('{value} m ago', { value: Math.floor(ms / 60_000) });
  return ms < 86_400_000
    ? t('{value} h ago', { value: Math.floor(ms / 3_600_000) })
    : t('{value} d ago', { value: Math.floor(ms / 86_400_000) });
}

export function clock(iso: string): string {
  return new Date(iso).toLocaleTimeString(locale());
}

/** A day and a time of day, with the seconds only where there are some, and with the time zone if that is wanted. */
export function moment(iso: string, zone: 'named' | 'own' = 'own'): string {
  const at = new Date(iso);
  return at.toLocaleString(locale(), {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    ...(at.getSeconds() === 0 ? {} : { second: '2-digit' }),
    ...(zone === 'named' ? { timeZoneName: 'short' } : {}),
  });
}

/** The end of an id, which tells runs apart. */
export function shortId(runId: string): string {
  return runId.slice(-6);
}

/** A tag as it is shown: an id as value is too long to be read. */
export function tagText(name: string, value: string): string {
  return `${name}:${/^[a-z]+-[0-9a-f]{16,}$/.test(value) ? `…${shortId(value)}` : value}`;
}

function trimmed(value: number): string {
  return value.toLocaleString(locale(), { maximumFractionDigits: 1 });
}

/** Characters of a text by which it is told from others. */
const PREVIEW_MAX = 200;

/** The first line of a text without the signs of Markdown, for a list. */
export function preview(text: string): string {
  const first = text.split('\n').find((line) => line.trim() !== '') ?? '';
  return first
    .replace(/^\s*(?:(?:#{1,6}|[-*>])\s+)+/, '')
    .replaceAll('**', '')
    .slice(0, PREVIEW_MAX);
}

/** A value as templates print it: a text as it is, everything else as compact JSON. */
export function printed(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
