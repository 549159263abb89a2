// The network as ensembles on a map: this one, those linked with it, and those that are away.

import type { Capability, Network, Peer } from '../../api/types';
import { grouped } from '../../ui/grouped';
import type { Point } from '../../ui/point';

export type Presence = 'here' | 'available' | 'busy' | 'draining' | 'gone' | 'unreached';

export interface Ensemble {
  /** Its name here; its tools are called `<name>.<capability>`. */
  name: string;
  /** Its own name, when that is another. */
  alias?: string;
  presence: Presence;
  /** None, or not known of one that was never reached. */
  realm: string | null | undefined;
  capabilities: Capability[];
  version?: string;
  load?: { share: number; max: number };
  /** Since when there is a link. */
  since?: string;
  goneAt?: string;
  /** The reason there is no link. */
  error?: string;
  isDialled: boolean;
  /** Requests from here it has not answered. */
  requests: Peer['requests'];
}

export const isAway = ({ presence }: Ensemble): boolean => presence === 'gone' || presence === 'unreached';

/** Every ensemble that is known, this one first, those without a link last. */
export function ensembles(network: Network): Ensemble[] {
  const here: Ensemble = {
    name: network.ensemble,
    presence: 'here',
    realm: network.realm,
    capabilities: network.sharedCapabilities,
    version: network.version,
    load: { share: network.currentLoad, max: network.maxConcurrent },
    isDialled: false,
    requests: [],
  };
  const gone = new Map(network.gone.map((each) => [each.name, each]));
  const peers = network.peers.map((peer): Ensemble => {
    const before = peer.connected ? undefined : gone.get(peer.name);
    gone.delete(peer.name);
    return {
      name: peer.name,
      ...aliasOf(peer.name, peer.ensemble ?? before?.ensemble),
      realm: peer.realm ?? before?.realm ?? (peer.connected || before ? null : undefined),
      presence: peer.connected ? (peer.status ?? 'available') : before ? 'gone' : 'unreached',
      capabilities: before?.sharedCapabilities ?? peer.sharedCapabilities,
      isDialled: peer.dialled,
      requests: peer.requests,
      ...(peer.version ? { version: peer.version } : {}),
      ...(peer.connected && peer.currentLoad !== undefined
        ? { load: { share: peer.currentLoad, max: peer.maxConcurrent ?? 0 } }
        : {}),
      ...(peer.since ? { since: peer.since } : {}),
      ...(before ? { goneAt: before.at } : {}),
      ...(peer.error && !peer.connected ? { error: peer.error } : {}),
    };
  });
  const onlyGone = [...gone.values()].map((each): Ensemble => ({
    name: each.name,
    ...aliasOf(each.name, each.ensemble),
    presence: 'gone',
    realm: each.realm ?? null,
    capabilities: each.sharedCapabilities,
    goneAt: each.at,
    isDialled: false,
    requests: [],
    ...(each.version ? { version: each.version } : {}),
  }));
  const others = [...peers, ...onlyGone];
  return [here, ...others.filter((each) => !isAway(each)), ...others.filter(isAway)];
}

const aliasOf = (name: string, itself: string | undefined): { alias?: string } =>
  itself && itself !== name ? { alias: itself } : {};

export interface UsableCapability {
  ensemble: Ensemble;
  capability: Capability;
}

/** The capabilities that can be used from here; with a tag, those that have it. */
export function usable(all: readonly Ensemble[], tag: string | null): UsableCapability[] {
  return all
    .filter((each) => each.presence !== 'here' && !isAway(each))
    .flatMap((ensemble) => ensemble.capabilities.map((capability) => ({ ensemble, capability })))
    .filter(({ capability }) => tag === null || capability.tags.includes(tag));
}

/** The tags of the shared capabilities with their number, the commonest first. */
export function tags(all: readonly Ensemble[]): { tag: string; count: number }[] {
  const found = grouped(
    all.filter((each) => !isAway(each)).flatMap(({ capabilities }) => capabilities.flatMap((each) => each.tags)),
    (tag) => tag,
  );
  return [...found]
    .map(([tag, uses]) => ({ tag, count: uses.length }))
    .sort((one, other) => other.count - one.count || one.tag.localeCompare(other.tag));
}

export const NODE_WIDTH = 216;
export const NODE_HEIGHT = 86;
const GAP = 26;
const MARGIN = 18;
const LABEL = 26;
/** The distance between this ensemble and the rest. */
const LINKS = 110;
/** Ensembles above each other in a realm. */
const ROWS_MAX = 6;

export interface Realm extends Point {
  name: string | null | undefined;
  width: number;
  height: number;
}

/** The places on the map: this ensemble on the left, the others on the right, realm below realm. */
export function layoutMap(all: readonly Ensemble[]): { places: Map<string, Point>; realms: Realm[] } {
  const [here, ...others] = all;
  const places = new Map<string, Point>();
  const realms: Realm[] = [];
  let y = 0;
  const order = [...grouped(others, ({ realm }) => realm)].sort(
    ([one], [other]) => nearness(one, here) - nearness(other, here) || String(one).localeCompare(String(other)),
  );
  for (const [name, members] of order) {
    const rows = Math.min(ROWS_MAX, Math.ceil(Math.sqrt(members.length * 2)));
    for (const [position, { name: member }] of members.entries()) {
      places.set(nodeId(member), {
        x: NODE_WIDTH + LINKS + Math.floor(position / rows) * (NODE_WIDTH + GAP),
        y: y + LABEL + (position % rows) * (NODE_HEIGHT + GAP),
      });
    }
    const columns = Math.ceil(members.length / rows);
    const height = LABEL + Math.min(rows, members.length) * (NODE_HEIGHT + GAP) - GAP + MARGIN;
    realms.push({
      name,
      x: NODE_WIDTH + LINKS - MARGIN,
      y,
      width: columns * (NODE_WIDTH + GAP) - GAP + 2 * MARGIN,
      height,
    });
    y += height + GAP;
  }
  places.set(HERE, { x: 0, y: Math.max(0, (y - GAP + LABEL - MARGIN - NODE_HEIGHT) / 2) });
  return { places, realms };
}

/** The id of this ensemble; a peer may have its name. */
export const HERE = '';
export const nodeId = (name: string): string => `peer ${name}`;

function nearness(realm: Ensemble['realm'], here: Ensemble | undefined): number {
  if (realm === undefined) return 3;
  if (realm === null) return 2;
  return realm === here?.realm ? 0 : 1;
}
