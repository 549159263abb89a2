import { describe, expect, it } from 'vitest';
import { parser } from '../api/sse';
import type { Capabilities, Capability, ListedTurn, Network, Peer, RunRow } from '../api/types';
import { blocks } from '../ui/blocks';
import { lines } from '../ui/diff';
import { count, countdown, duration, money } from '../ui/format';
import { fields, toArguments } from '../ui/schema';
import { fromNetwork } from '../ui/ToolsField';
import { emptyDraft, NO_OVERRIDE, ownTask, toRequest, variables } from './new/draft';
import { ensembles, key, placed, provided, tags } from './network/ensembles';
import { buckets } from './overview/buckets';
import { type Description, fields as described, operations } from './reference/description';
import { edges, layout } from './run/graph/layout';
import { merged, type Span, spansOf } from './run/timeline/spans';
import type { Round, Turn } from '../run/state';
import { readFilters, toQuery, writeFilters } from './runs/filters';

const CAPABILITIES: Capabilities = {
  tools: [], models: [], sharedTasks: [], sharedTools: [], mcpServers: [], inputs: {},
  preconfiguredTasks: [{ name: 'write', description: 'Write {topic}', tools: [], variables: ['topic'] }],
};

describe('a composed request', () => {
  it('holds what was filled in and nothing else', () => {
    const draft = emptyDraft(CAPABILITIES);
    expect(toRequest(draft)).toEqual({});
    expect(toRequest({ ...draft, inputs: { topic: 'bees', other: '' }, tags: ['team:web', 'urgent'], overrides: { write: { ...NO_OVERRIDE, model: 'swift', maxIterations: '3' } } })).toEqual({
      inputs: { topic: 'bees' }, tags: { team: 'web', urgent: '' }, taskOverrides: { write: { model: 'swift', maxIterations: 3 } },
    });
  });

  it('refers to tasks by name, or by position while they have none', () => {
    const tasks = [{ ...ownTask(5), name: 'a', description: 'A' }, { ...ownTask(6), description: 'B', context: [5] }, { ...ownTask(7), description: 'C', context: [6], isReviewed: true }];
    expect(toRequest({ ...emptyDraft(CAPABILITIES), source: 'own', tasks })).toEqual({
      tasks: [{ name: 'a', description: 'A' }, { description: 'B', context: ['$a'] }, { description: 'C', context: ['$1'], review: 'required' }],
    });
  });

  it('names the agent of a task, and leaves out one that nobody described', () => {
    const tasks = [{ ...ownTask(1), description: 'A', role: 'Editor for {paper}', goal: 'Clear words', mayDelegate: true, tools: ['network:#food'] }, { ...ownTask(2), description: 'B' }, { ...ownTask(3), description: 'C', goal: 'x' }];
    const draft = { ...emptyDraft(CAPABILITIES), source: 'own' as const, tasks };
    expect(variables(draft, CAPABILITIES)).toEqual(['paper']);
    expect(toRequest(draft)).toEqual({ tasks: [
      { description: 'A', agent: { role: 'Editor for {paper}', goal: 'Clear words', allowDelegation: true }, tools: ['network:#food'] }, { description: 'B' }, { description: 'C', agent: { goal: 'x' } },
    ] });
  });
});

describe('tasks of my own', () => {
  it('bring the variables of their texts as inputs', () => {
    const tasks = [{ ...ownTask(1), description: 'Write about {topic} as {{json}} for {audience}', expectedOutput: '{topic}, in short' }];
    const draft = { ...emptyDraft(CAPABILITIES), source: 'own' as const, tasks, inputs: { topic: 'bees', other: 'x' } };
    expect(variables(draft, CAPABILITIES)).toEqual(['topic', 'audience']);
    expect(toRequest(draft).inputs).toEqual({ topic: 'bees' });
  });
});

describe('the filters of the list', () => {
  it('survive the address and become a query', () => {
    const filters = { status: 'FAILED', tags: ['a:b', 'c'], page: 3 };
    expect(readFilters(writeFilters(filters))).toEqual(filters);
    expect(toQuery(filters)).toBe('status=FAILED&tag=a%3Ab&tag=c&limit=50&offset=100');
    expect(readFilters(new URLSearchParams('page=-1')).page).toBe(1);
  });
});

describe('server-sent events', () => {
  it('are whole however they are cut', () => {
    const text = ': ping\n\nevent: a\ndata: {"x":1}\nid: 0\n\ndata: one\ndata: two\r\n\r\n';
    for (let cut = 0; cut <= text.length; cut += 1) {
      const taken: string[] = [];
      const parse = parser((data) => { taken.push(data); return false; });
      parse(text.slice(0, cut));
      parse(text.slice(cut));
      expect(taken).toEqual(['{"x":1}', 'one\ntwo']);
    }
  });
});

describe('the graph', () => {
  const task = (index: number, context: number[]): { index: number; context: number[] } => ({ index, context });

  it('draws the order of a sequence where no link says it', () => {
    expect(edges([task(1, []), task(2, [1]), task(3, [])], 'SEQUENTIAL').map(({ from, to, kind }) => `${from}${to}${kind}`)).toEqual(['12reads', '23then']);
    expect(edges([task(1, []), task(2, [])], 'PARALLEL')).toEqual([]);
  });

  it('places a thousand tasks apart, readers after what they read', () => {
    const tasks = Array.from({ length: 1_000 }, (_, position) => task(position + 1, position >= 500 ? [position - 499] : []));
    const places = layout(tasks, edges(tasks, 'PARALLEL'));
    expect(new Set([...places.values()].map(({ x, y }) => `${x},${y}`)).size).toBe(1_000);
    expect(places.get(501)?.x).toBeGreaterThan(places.get(1)?.x ?? Infinity);
  });
});

describe('the timeline', () => {
  it('leaves the time between two tries free', () => {
    const at = (second: number): string => new Date(second * 1_000).toISOString();
    const failure = { seq: 2, at: at(2), error: 'unavailable', message: '503', then: 'tries again' };
    const round: Round = { kind: 'round', seq: 1, index: 0, model: 'm', startedAt: at(0), endedAt: at(7), sent: [], streaming: '', calls: [], inputTokens: 0, outputTokens: 0, failures: [{ ...failure, retriedAt: at(5) }] };
    const drawn = spansOf({ items: [round] } as unknown as Turn, 9_000);
    expect(drawn.map(({ kind, from, to }) => `${kind} ${from / 1_000}–${to / 1_000}`)).toEqual(['model 0–2', 'retry 2–2', 'model 5–7']);
    const waiting = spansOf({ items: [{ ...round, failures: [failure] }] } as unknown as Turn, 9_000);
    expect(waiting.map(({ kind }) => kind)).toEqual(['model', 'retry']);
  });

  it('draws a bounded number of boxes for any number of calls', () => {
    const spans = Array.from({ length: 50_000 }, (_, seq): Span => ({ kind: 'tool', from: seq * 10, to: seq * 10 + 8, title: 't', seq }));
    const drawn = merged(spans, 1_000);
    expect(drawn.length).toBeLessThan(600);
    expect(drawn[0]?.from).toBe(0);
    expect(drawn.at(-1)?.to).toBe(499_998);
  });
});

describe('a tool\'s form', () => {
  const schema = { type: 'object', required: ['q'], properties: { q: { type: 'string' }, n: { type: 'integer' }, all: { type: 'boolean' }, more: { type: 'array' }, tags: { type: 'array', items: { type: 'string' } } } };

  it('turns what was typed into arguments of the right types', () => {
    const all = fields(schema);
    expect(all.map(({ kind }) => kind)).toEqual(['text', 'number', 'flag', 'json', 'words']);
    expect(toArguments(all, { q: 'x', n: '3', all: 'true', more: '[1]', tags: 'a\nb' })).toEqual({ q: 'x', n: 3, all: true, more: [1], tags: ['a', 'b'] });
    expect(toArguments(all, { q: '5' })).toEqual({ q: '5' });
    expect(() => toArguments(all, { more: '[' })).toThrow('more is not JSON');
    expect(fields(undefined)).toMatchObject([{ name: 'input', kind: 'text', isNeeded: true }]);
  });
});

describe('a diff', () => {
  it('marks the words that changed and leaves out what did not', () => {
    const before = Array.from({ length: 20 }, (_, line) => `line ${line}`).join('\n');
    const found = lines(before, before.replace('line 10', 'row 10'));
    expect(found.map(({ kind }) => kind)).toEqual(['skip', ' ', ' ', ' ', '-', '+', ' ', ' ', ' ', 'skip']);
    expect(found[5]).toMatchObject({ parts: [{ text: 'row', isChanged: true }, { text: ' 10', isChanged: false }] });
  });
});

describe('a text that is still coming', () => {
  it('is cut at blank lines, never within code', () => {
    const text = '# Title\n\nOne\ntwo\n\n\n```py\na\n\nb\n```\n\n~~~\n```\n\n~~~\nend';
    expect(blocks(text)).toEqual(['# Title', 'One\ntwo', '```py\na\n\nb\n```', '~~~\n```\n\n~~~\nend']);
    expect(blocks(text.slice(0, text.indexOf('b')))).toEqual(['# Title', 'One\ntwo', '```py\na\n\n']);
    expect([blocks(''), blocks('\n\n')]).toEqual([[], []]);
  });
});

describe('the description of the API', () => {
  it('becomes operations, and schemas become fields as deep as they are told', () => {
    const description = {
      info: { title: 'x', version: '1' },
      components: { schemas: { Task: { type: 'object', required: ['name'], properties: { name: { type: 'string', description: 'What it is called.' } } } }, parameters: { From: { name: 'from', in: 'query' } } },
      paths: { '/tasks': { get: { summary: 'List', tags: ['tasks'], parameters: [{ $ref: '#/components/parameters/From', name: '', in: '' }], responses: { 200: { content: { 'application/json': { example: 1 } } } } } } },
    } as Description;
    expect(operations(description)).toMatchObject([{ method: 'GET', path: '/tasks', tag: 'tasks', parameters: [{ name: 'from' }], answers: [{ status: '200', example: 1 }] }]);
    const schema = { allOf: [{ type: 'object', properties: { tasks: { type: 'array', items: { $ref: '#/components/schemas/Task' } } } }] };
    expect(described(description, schema)).toEqual([
      { path: 'tasks', type: 'Task[]', isNeeded: false, about: '' }, { path: 'tasks[].name', type: 'string', isNeeded: true, about: 'What it is called.' },
    ]);
  });
});

describe('numbers', () => {
  it('read as people say them', () => {
    expect([duration(950), duration(9_400), duration(61_000), duration(7_260_000)]).toEqual(['950 ms', '9.4 s', '1 m 1 s', '2 h 1 m']);
    expect([countdown(0), countdown(59_001), countdown(3_600_000)]).toEqual(['0:00', '1:00', '1:00:00']);
    expect([count(-1), count(9_999), count(12_340), count(1_000_000)]).toEqual(['unknown', '9,999', '12.3k', '1M']);
    expect([money(0), money(0.00001), money(0.0123), money(12.5)]).toEqual(['$0', '<$0.0001', '$0.0123', '$12.50']);
  });
});

describe('what was spent', () => {
  it('is counted for runs and for chats, each where it began', () => {
    const now = Date.parse('2026-05-01T12:30:00Z');
    const run = (startedAt: string, more: object): RunRow => ({ startedAt, totalTokens: 100, status: 'COMPLETED', costEstimate: { inputCost: 0.5, outputCost: 0.25 }, ...more }) as RunRow;
    const turn = (startedAt: string, totalTokens: number, totalUsd: number | null): ListedTurn => ({ turnId: 't', threadId: 'c', status: 'COMPLETED', startedAt, durationMs: 1, totalTokens, totalUsd });
    const runs = [run('2026-05-01T12:10:00Z', {}), run('2026-05-01T11:10:00Z', { status: 'FAILED', totalTokens: -1, costEstimate: undefined }), run('2026-04-01T00:00:00Z', {})];
    const turns = [turn('2026-05-01T12:20:00Z', 30, 0.1), turn('2026-05-01T12:25:00Z', -1, null), turn('2026-05-01T11:59:59Z', 7, 0.2)];
    const found = buckets({ runs, turns }, { value: '2h', label: '', stepMs: 3_600_000, steps: 2 }, now);
    expect(found.map(({ from: _from, ...rest }) => rest)).toEqual([
      { runs: 1, failed: 1, tokens: { runs: 0, chats: 7 }, cost: { runs: 0, chats: 0.2 } },
      { runs: 1, failed: 0, tokens: { runs: 100, chats: 30 }, cost: { runs: 0.75, chats: 0.1 } },
    ]);
  });
});

describe('the network', () => {
  it('offers its tools to tasks by name, by tag and all together', () => {
    const shared = [{ name: 'stock', description: '', type: 'TOOL' as const, tags: ['food'] }, { name: 'cook', description: '', type: 'TASK' as const, tags: ['warm'] }];
    const peer = (name: string, connected: boolean): Peer => ({ name, connected, dialled: true, sharedCapabilities: shared, requests: [] });
    expect(fromNetwork({ peers: [peer('kitchen', true), peer('cellar', false)] })).toEqual(['network:*', 'network:#food', 'kitchen.stock', 'kitchen.cook']);
    expect(fromNetwork({ peers: [peer('cellar', false)] })).toEqual([]);
  });

  const tool = (name: string, ...tags: string[]): Capability => ({ name, description: '', type: 'TOOL', tags });
  const NETWORK: Network = {
    ensemble: 'room', realm: 'downtown', version: '1', leaseMs: 1, status: 'available', currentLoad: 0, maxConcurrent: 4, sharedCapabilities: [tool('clean')], capabilities: 2,
    peers: [
      { name: 'laundry', connected: false, dialled: false, sharedCapabilities: [], requests: [], error: 'refused' },
      { name: 'cellar', connected: false, dialled: false, sharedCapabilities: [], requests: [], error: 'refused' },
      { name: 'kitchen', connected: true, dialled: true, ensemble: 'cook', realm: 'downtown', status: 'busy', currentLoad: 1, maxConcurrent: 2, requests: [], sharedCapabilities: [tool('stock', 'food'), tool('cook', 'food', 'hot')] },
    ],
    gone: [
      { name: 'bar', at: '2026-01-01T00:00:05Z', sharedCapabilities: [tool('mix', 'drinks')] },
      { name: 'cellar', at: '2026-01-01T00:00:00Z', realm: 'harbour', sharedCapabilities: [tool('wine', 'drinks')] },
    ],
  };
  const all = ensembles(NETWORK);

  it('tells who is here, linked, never reached and gone, each once', () => {
    expect(all.map(({ name, presence }) => `${name} ${presence}`)).toEqual(['room here', 'kitchen busy', 'laundry unreached', 'cellar gone', 'bar gone']);
    expect(all[1]).toMatchObject({ alias: 'cook', load: { share: 1, max: 2 }, isDialled: true });
    expect(all[3]).toMatchObject({ realm: 'harbour', goneAt: '2026-01-01T00:00:00Z', error: 'refused', capabilities: [{ name: 'wine' }] });
  });

  it('offers by tag what can be used, which is nothing of those who are gone', () => {
    expect(tags(all)).toEqual([{ tag: 'food', count: 2 }, { tag: 'hot', count: 1 }]);
    expect(provided(all, null).map(({ capability }) => capability.name)).toEqual(['stock', 'cook']);
    expect(provided(all, 'hot').map(({ ensemble, capability }) => `${ensemble.name}.${capability.name}`)).toEqual(['kitchen.cook']);
    expect(provided(all, 'drinks')).toEqual([]);
  });

  it('places a hundred ensembles apart, each within its realm', () => {
    const peers = Array.from({ length: 100 }, (_, number) => ({ name: `e${number}`, connected: true, dialled: true, realm: `r${number % 7}`, requests: [], sharedCapabilities: [] }));
    const crowd = ensembles({ ...NETWORK, peers, gone: [] });
    const { places, realms } = placed(crowd);
    expect(new Set([...places.values()].map(({ x, y }) => `${x},${y}`)).size).toBe(101);
    for (const { name, realm } of crowd.slice(1)) {
      const place = places.get(key(name));
      const region = realms.find((each) => each.name === realm);
      expect(place && region && place.x > region.x && place.x < region.x + region.width && place.y > region.y && place.y < region.y + region.height).toBe(true);
    }
  });
});
