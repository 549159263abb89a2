// The state of every open stream, and the worst of them for the page to show.

import { Store } from '../store/store';

export type ConnectionState =
  | { state: 'live' }
  | { state: 'connecting' }
  | { state: 'lost'; retryAt: number; retry: () => void };

type ConnectionId = symbol;

const LIVE: ConnectionState = { state: 'live' };
/** From good to bad. */
const ORDER: ConnectionState['state'][] = ['live', 'connecting', 'lost'];

const badness = ({ state }: ConnectionState): number => ORDER.indexOf(state);

/** Its value is the worst state of all connections. */
class Connections extends Store<ConnectionState> {
  readonly #states = new Map<ConnectionId, ConnectionState>();

  constructor() {
    super(LIVE);
  }

  open(): ConnectionId {
    const id = Symbol('connection');
    this.#states.set(id, { state: 'connecting' });
    this.#changed();
    return id;
  }

  report(id: ConnectionId, state: ConnectionState): void {
    if (!this.#states.has(id)) return;
    this.#states.set(id, state);
    this.#changed();
  }

  close(id: ConnectionId): void {
    this.#states.delete(id);
    this.#changed();
  }

  #changed(): void {
    this.set([...this.#states.values()].reduce((one, other) => (badness(other) > badness(one) ? other : one), LIVE));
  }
}

export const connections = new Connections();
