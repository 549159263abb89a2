// How the connection stands: what every open stream says of itself, and the worst of it for everybody.

export type Standing =
  | { state: 'live' }
  | { state: 'connecting' }
  | { state: 'lost'; retryAt: number; retry: () => void };

export type LinkId = symbol;

const links = new Map<LinkId, Standing>();
const listeners = new Set<() => void>();
const NONE: Standing = { state: 'live' };
let worst: Standing = NONE;

const badness = (standing: Standing): number => ['live', 'connecting', 'lost'].indexOf(standing.state);

function changed(): void {
  worst = [...links.values()].reduce((one, other) => (badness(other) > badness(one) ? other : one), NONE);
  for (const listener of listeners) listener();
}

export const link = {
  open(): LinkId {
    const id = Symbol('link');
    links.set(id, { state: 'connecting' });
    changed();
    return id;
  },
  set(id: LinkId, standing: Standing): void {
    if (!links.has(id)) return;
    links.set(id, standing);
    changed();
  },
  close(id: LinkId): void {
    links.delete(id);
    changed();
  },
  worst: (): Standing => worst,
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};
