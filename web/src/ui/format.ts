// Numbers as people read them.

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = ms / 1_000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.floor(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} m ${Math.floor(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} m` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** Time left, as a clock. */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  const part = (value: number): string => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${part(minutes)}:${part(seconds % 60)}` : `${minutes}:${part(seconds % 60)}`;
}

export function count(value: number): string {
  if (value < 0) return 'unknown';
  if (value < 10_000) return value.toLocaleString('en');
  return value < 1_000_000 ? `${trimmed(value / 1_000)}k` : `${trimmed(value / 1_000_000)}M`;
}

export function money(usd: number): string {
  if (usd === 0) return '$0';
  if (usd < 0.0001) return '<$0.0001';
  return `$${usd < 1 ? usd.toFixed(4) : usd.toFixed(2)}`;
}

export function ago(ms: number): string {
  if (ms < 5_000) return 'just now';
  if (ms < 60_000) return `${Math.floor(ms / 1_000)} s ago`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} m ago`;
  return ms < 86_400_000 ? `${Math.floor(ms / 3_600_000)} h ago` : `${Math.floor(ms / 86_400_000)} d ago`;
}

export function clock(iso: string): string {
  return new Date(iso).toLocaleTimeString('en-GB');
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
  return value.toFixed(1).replace(/\.0$/, '');
}
