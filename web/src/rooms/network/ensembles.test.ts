import { describe, expect, it } from 'vitest';
import type { Capability, Network, Peer } from '../../api/types';
import { fromNetwork } from '../../ui/ToolsField';
import { ensembles, nodeId, layoutMap, usable, tags } from './ensembles';

describe('the network', () => {
  it('offers its tools to tasks by name, by tag and all together', () => {
    const shared = [
      { name: 'stock', description: '', type: 'TOOL' as const, tags: ['food'] },
      { name: 'cook', description: '', type: 'TASK' as const, tags: ['warm'] },
    ];
    const peer = (name: string, connected: boolean): Peer => ({
      name,
      connected,
      dialled: true,
      sharedCapabilities: shared,
      requests: [],
    });
    expect(fromNetwork({ peers: [peer('kitchen', true), peer('cellar', false)] })).toEqual([
      'network:*',
      'network:#food',
      'kitchen.stock',
      'kitchen.cook',
    ]);
    expect(fromNetwork({ peers: [peer('cellar', false)] })).toEqual([]);
  });

  const tool = (name: string, ...tags: string[]): Capability => ({ name, description: '', type: 'TOOL', tags });
  const NETWORK: Network = {
    ensemble: 'room',
    realm: 'downtown',
    version: '1',
    leaseMs: 1,
    status: 'available',
    currentLoad: 0,
    maxConcurrent: 4,
    sharedCapabilities: [tool('clean')],
    capabilities: 2,
    peers: [
      { name: 'laundry', connected: false, dialled: false, sharedCapabilities: [], requests: [], error: 'refused' },
      { name: 'cellar', connected: false, dialled: false, sharedCapabilities: [], requests: [], error: 'refused' },
      {
        name: 'kitchen',
        connected: true,
        dialled: true,
        ensemble: 'cook',
        realm: 'downtown',
        status: 'busy',
        currentLoad: 1,
        maxConcurrent: 2,
        requests: [],
        sharedCapabilities: [tool('stock', 'food'), tool('cook', 'food', 'hot')],
      },
    ],
    gone: [
      { name: 'bar', at: '2026-01-01T00:00:05Z', sharedCapabilities: [tool('mix', 'drinks')] },
      { name: 'cellar', at: '2026-01-01T00:00:00Z', realm: 'harbour', sharedCapabilities: [tool('wine', 'drinks')] },
    ],
  };
  const all = ensembles(NETWORK);

  it('tells who is here, linked, never reached and gone, each once', () => {
    expect(all.map(({ name, presence }) => `${name} ${presence}`)).toEqual([
      'room here',
      'kitchen busy',
      'laundry unreached',
      'cellar gone',
      'bar gone',
    ]);
    expect(all[1]).toMatchObject({ alias: 'cook', load: { share: 1, max: 2 }, isDialled: true });
    expect(all[3]).toMatchObject({
      realm: 'harbour',
      goneAt: '2026-01-01T00:00:00Z',
      error: 'refused',
      capabilities: [{ name: 'wine' }],
    });
  });

  it('offers by tag what can be used, which is nothing of those who are gone', () => {
    expect(tags(all)).toEqual([
      { tag: 'food', count: 2 },
      { tag: 'hot', count: 1 },
    ]);
    expect(usable(all, null).map(({ capability }) => capability.name)).toEqual(['stock', 'cook']);
    expect(usable(all, 'hot').map(({ ensemble, capability }) => `${ensemble.name}.${capability.name}`)).toEqual([
      'kitchen.cook',
    ]);
    expect(usable(all, 'drinks')).toEqual([]);
  });

  it('places a hundred ensembles apart, each within its realm', () => {
    const peers = Array.from({ length: 100 }, (_, number) => ({
      name: `e${number}`,
      connected: true,
      dialled: true,
      realm: `r${number % 7}`,
      requests: [],
      sharedCapabilities: [],
    }));
    const crowd = ensembles({ ...NETWORK, peers, gone: [] });
    const { places, realms } = layoutMap(crowd);
    expect(new Set([...places.values()].map(({ x, y }) => `${x},${y}`)).size).toBe(101);
    for (const { name, realm } of crowd.slice(1)) {
      const place = places.get(nodeId(name));
      const region = realms.find((each) => each.name === realm);
      expect(
        place &&
          region &&
          place.x > region.x &&
          place.x < region.x + region.width &&
          place.y > region.y &&
          place.y < region.y + region.height,
      ).toBe(true);
    }
  });
});
