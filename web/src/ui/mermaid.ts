// The two kinds of diagrams models draw most, read from mermaid's notation: flowcharts and sequences. What is not
// understood makes no diagram, and the text is shown as it is.

export interface FlowNode {
  id: string;
  text: string;
  shape: 'box' | 'round' | 'diamond';
}

export interface FlowEdge {
  from: string;
  to: string;
  text: string;
  isDashed: boolean;
}

export interface Flow {
  kind: 'flow';
  direction: 'TB' | 'LR' | 'BT' | 'RL';
  nodes: FlowNode[];
  edges: FlowEdge[];
}

export interface Said {
  from: string;
  to: string;
  text: string;
  isDashed: boolean;
}

export interface Sequence {
  kind: 'sequence';
  people: { id: string; name: string }[];
  said: Said[];
}

/** Nodes and messages drawn at most; more are no picture. */
const PARTS_MAX = 200;

export function parsed(text: string): Flow | Sequence | undefined {
  const lines = text
    .split(/\n|;(?![^[({]*[\])}])/)
    .map((line) => line.replace(/%%.*$/, '').trim())
    .filter(Boolean);
  const [first = '', ...rest] = lines;
  const flow = /^(?:graph|flowchart)(?:\s+(TB|TD|LR|BT|RL))?$/.exec(first);
  if (flow) return flowchart((flow[1] ?? 'TB').replace('TD', 'TB') as Flow['direction'], rest);
  return first === 'sequenceDiagram' ? sequence(rest) : undefined;
}

/** An id with the text in brackets behind it. */
const NODE =
  /^([\p{L}\p{N}_-]*[\p{L}\p{N}_])\s*(?:(\[\[|\[\(|\(\[|\(\(|\[|\(|\{\{|\{|>)(.*?)(\]\]|\)\]|\]\)|\)\)|\]|\)|\}\}|\}))?(?:::+\w+)?\s*/u;
/** An arrow with the text on it, in either notation. */
const ARROW = /^<?(-{2,}|={2,}|-\.+-?)(?:\s*([^-=.>|][^>|]*?)\s*(?:-{2,}|={2,}|\.+-))?([>xo]?)(?:\|([^|]*)\|)?\s*/;
/** Lines that change the looks and not the meaning. */
const LOOKS = /^(?:style|classDef|class|linkStyle|click|subgraph|end|direction)\b/;

function flowchart(direction: Flow['direction'], lines: string[]): Flow | undefined {
  const nodes = new Map<string, FlowNode>();
  const edges: FlowEdge[] = [];
  for (const line of lines) {
    if (LOOKS.test(line)) continue;
    if (!chain(line, nodes, edges)) return undefined;
  }
  const isDrawn = nodes.size > 0 && nodes.size + edges.length <= PARTS_MAX;
  return isDrawn ? { kind: 'flow', direction, nodes: [...nodes.values()], edges } : undefined;
}

/** One line: nodes with arrows between them. Returns whether it was understood. */
function chain(line: string, nodes: Map<string, FlowNode>, edges: FlowEdge[]): boolean {
  let rest = line;
  let before: string[] = [];
  let arrow: RegExpExecArray | null = null;
  for (;;) {
    const group = takeGroup(rest, nodes);
    if (!group) return false;
    if (arrow) {
      const text = plain(arrow[2] ?? arrow[4] ?? '');
      const isDashed = arrow[1]?.includes('.') ?? false;
      for (const from of before) for (const to of group.ids) edges.push({ from, to, text, isDashed });
    }
    ({ rest } = group);
    if (rest === '') return true;
    arrow = ARROW.exec(rest);
    if (!arrow) return false;
    rest = rest.slice(arrow[0].length);
    before = group.ids;
  }
}

/** Nodes joined by `&`. */
function takeGroup(text: string, nodes: Map<string, FlowNode>): { ids: string[]; rest: string } | undefined {
  const ids: string[] = [];
  let rest = text;
  for (;;) {
    const found = NODE.exec(rest);
    if (!found) return undefined;
    const [whole, id = '', opened = '', words] = found;
    if (words !== undefined || !nodes.has(id)) nodes.set(id, { id, text: plain(words ?? id), shape: shapeOf(opened) });
    ids.push(id);
    rest = rest.slice(whole.length);
    if (!rest.startsWith('&')) return { ids, rest };
    rest = rest.slice(1).trimStart();
  }
}

const shapeOf = (opened: string): FlowNode['shape'] =>
  opened.startsWith('{') ? 'diamond' : opened.startsWith('(') || opened === '[(' ? 'round' : 'box';

/** The words of a label, without quotes and line breaks. */
const plain = (text: string): string =>
  text
    .trim()
    .replace(/^"(.*)"$/, '$1')
    .replaceAll(/<br\s*\/?>/g, ' ')
    .replaceAll(/[`*]/g, '');

const MESSAGE = /^(.+?)\s*(--?>>?|--?x|--?\))\s*[+-]?(.+?)\s*:\s*(.*)$/;
const PERSON = /^(?:participant|actor)\s+(\S+?)(?:\s+as\s+(.+))?$/;
/** Lines that group messages; the messages are drawn without the group. */
const GROUPS = /^(?:loop|alt|else|opt|par|and|end|note|activate|deactivate|autonumber|rect|title)\b/i;

function sequence(lines: string[]): Sequence | undefined {
  const people = new Map<string, string>();
  const said: Said[] = [];
  for (const line of lines) {
    const person = PERSON.exec(line);
    const message = MESSAGE.exec(line);
    if (person) people.set(person[1] ?? '', plain(person[2] ?? person[1] ?? ''));
    else if (message && !GROUPS.test(line)) {
      const [, from = '', arrow = '', to = '', text = ''] = message;
      for (const id of [from, to]) if (!people.has(id)) people.set(id, id);
      said.push({ from, to, text: plain(text), isDashed: arrow.startsWith('--') });
    } else if (!GROUPS.test(line)) return undefined;
  }
  const isDrawn = said.length > 0 && said.length + people.size <= PARTS_MAX;
  return isDrawn ? { kind: 'sequence', people: [...people].map(([id, name]) => ({ id, name })), said } : undefined;
}
