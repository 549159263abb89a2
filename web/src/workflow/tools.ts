// The tools the canvas offers to the chat beside it. A call gives a new graph and says in words what came of it, for the
// model and for the person who watches.

import type { TaskDocument, WorkflowDocument } from '../api/types';
import { type Issue, check } from './check';
import { referencesOf, toTaskDocument, toTasks } from './convert';
import {
  add,
  change,
  connect,
  disconnect,
  EMPTY,
  type Fields,
  find,
  freeName,
  type Graph,
  insert,
  findByName,
  nextId,
  linkRefusal,
  remove,
  titleOf,
} from './graph';
import { arranged, below, freePlace } from './place';

export interface Answer {
  graph: Graph;
  /** The label of the change, for undoing; none when nothing changed. */
  label?: string;
  result: string;
  isError: boolean;
  /** The tasks it was about. */
  touched: string[];
}

type Args = Record<string, unknown>;

const TEXT = { type: 'string' };
const NAMES = { type: 'array', items: TEXT };
const LINK = { type: 'object', properties: { from: TEXT, to: TEXT }, required: ['from', 'to'] };

const TASK = {
  name: { ...TEXT, description: 'Short and unique' },
  description: { ...TEXT, description: 'What to do; {variable} stands for an input' },
  expectedOutput: { ...TEXT, description: 'What the answer should be' },
  additionalContext: { ...TEXT, description: 'What the agent should know besides' },
  agent: {
    type: 'object',
    properties: { role: TEXT, goal: TEXT, background: TEXT },
    required: ['role'],
    description: 'Who does it; derived from the description when absent',
  },
  model: { ...TEXT, description: 'Only where another model than usual is needed' },
  tools: { ...NAMES, description: 'Names of tools it may call' },
  context: { ...NAMES, description: 'Names of the tasks whose output it reads' },
  outputSchema: { type: 'object', description: 'A JSON Schema its output must fit' },
  review: { enum: ['required', 'skip'], description: 'Whether a person reviews its output' },
};

const object = (properties: object, required: string[] = []): object => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

export const MANIFEST = [
  {
    name: 'ui_get_graph',
    description: 'The workflow on the canvas: its tasks, what each reads, and what is wrong with it.',
    parameters: object({}),
  },
  { name: 'ui_add_node', description: 'Adds a task to the canvas.', parameters: object(TASK, ['description']) },
  {
    name: 'ui_connect_nodes',
    description: 'Lets one task read the output of another.',
    parameters: object(
      {
        from: { ...TEXT, description: 'The task whose output is read' },
        to: { ...TEXT, description: 'The task that reads it' },
      },
      ['from', 'to'],
    ),
  },
  {
    name: 'ui_update_node',
    description: 'Changes a task. Fields that are absent stay as they are; an empty text or list clears one.',
    parameters: object({ node: { ...TEXT, description: 'The name of the task' }, ...TASK }, ['node']),
  },
  {
    name: 'ui_delete',
    description: 'Removes tasks, or connections between tasks.',
    parameters: object({ nodes: NAMES, connections: { type: 'array', items: LINK } }),
  },
  {
    name: 'ui_paste',
    description:
      'Puts a graph on the canvas: one that build_workflow has planned, by its graph_ref, or the tasks given here. ' +
      'It is added beside what is there unless replace is true.',
    parameters: object({
      graph_ref: { ...TEXT, description: 'As build_workflow returned it' },
      tasks: { type: 'array', items: object(TASK, ['description']) },
      replace: { type: 'boolean' },
    }),
  },
];

/** Graphs that were planned, by what they are called. */
export type Plans = (reference: string) => WorkflowDocument | undefined;

export function perform(graph: Graph, name: string, args: unknown, plans: Plans): Answer {
  const given = typeof args === 'object' && args !== null ? (args as Args) : {};
  try {
    switch (name) {
      case 'ui_get_graph':
        return { graph, result: JSON.stringify(describeGraph(graph)), isError: false, touched: [] };
      case 'ui_add_node':
        return addNode(graph, given);
      case 'ui_connect_nodes':
        return connectNodes(graph, given);
      case 'ui_update_node':
        return updateNode(graph, given);
      case 'ui_delete':
        return deleteNodes(graph, given);
      case 'ui_paste':
        return paste(graph, given, plans);
      default:
        throw new Error(`The canvas has no tool called '${name}'`);
    }
  } catch (error) {
    return { graph, result: error instanceof Error ? error.message : String(error), isError: true, touched: [] };
  }
}

/** The graph as a model reads it: names instead of ids. */
function describeGraph(graph: Graph): object {
  const references = referencesOf(graph);
  const tasks = graph.tasks.map((task) => {
    const { position: _position, ...document } = toTaskDocument(references, task);
    return {
      ...document,
      name: titleOf(graph, task.id),
      ...(task.reads.length > 0 ? { context: task.reads.map((id) => titleOf(graph, id)) } : {}),
    };
  });
  const problems = check(graph).map((issue) => issueLine(graph, issue));
  return {
    name: graph.name,
    ...(graph.description ? { description: graph.description } : {}),
    tasks,
    ...(problems.length > 0 ? { problems } : {}),
  };
}

const issueLine = (graph: Graph, { task, message }: Issue): string =>
  task ? `${titleOf(graph, task)}: ${message}` : message;

function idOf(graph: Graph, name: unknown): string {
  const found = typeof name === 'string' ? findByName(graph, name) : undefined;
  if (found) return found.id;
  const all = graph.tasks.map(({ id }) => `'${titleOf(graph, id)}'`).join(', ');
  throw new Error(`There is no task called '${String(name)}'. ${all ? `There are: ${all}` : 'The canvas is empty'}`);
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The fields of a task a call sets. */
function fieldsOf(graph: Graph, args: Args): Fields {
  const [read] = toTasks([{ description: '', ...(args as Partial<TaskDocument>), context: [] }]);
  if (!read) return {};
  const known: [string, Fields][] = [
    ['name', { name: read.name.trim() }],
    ['description', { description: read.description }],
    ['expectedOutput', { expectedOutput: read.expectedOutput }],
    ['additionalContext', { additionalContext: read.additionalContext }],
    ['model', { model: read.model }],
    ['tools', { tools: read.tools }],
    ['outputSchema', { outputSchema: read.outputSchema }],
    ['review', { review: read.review }],
    ['agent', { role: read.role, goal: read.goal, background: read.background }],
  ];
  const fields = Object.assign(
    {},
    ...known.filter(([name]) => args[name] !== undefined).map(([, field]) => field),
  ) as Fields;
  if (args['context'] !== undefined)
    fields.reads = [...new Set(list(args['context']).map((name) => idOf(graph, name)))];
  return fields;
}

const quotedTitles = (graph: Graph, ids: readonly string[]): string =>
  ids.map((id) => `'${titleOf(graph, id)}'`).join(', ');

function addNode(graph: Graph, args: Args): Answer {
  const fields = fieldsOf(graph, args);
  const reads = fields.reads ?? [];
  const name = fields.name ? freeName(graph, fields.name) : '';
  const id = nextId(graph);
  const grown = add(graph, { ...fields, name, at: freePlace(graph, reads) });
  const result = `Added '${titleOf(grown, id)}'${reads.length > 0 ? `, which reads ${quotedTitles(grown, reads)}` : ''}.`;
  return {
    graph: grown,
    label: `add '${titleOf(grown, id)}'`,
    result: result + issueText(grown, [id]),
    isError: false,
    touched: [id],
  };
}

function connectNodes(graph: Graph, args: Args): Answer {
  const [from, to] = [idOf(graph, args['from']), idOf(graph, args['to'])];
  const reason = linkRefusal(graph, from, to);
  if (reason) throw new Error(reason);
  const result = `'${titleOf(graph, to)}' now reads '${titleOf(graph, from)}'.`;
  return {
    graph: connect(graph, from, to),
    label: `connect '${titleOf(graph, from)}' to '${titleOf(graph, to)}'`,
    result,
    isError: false,
    touched: [from, to],
  };
}

function updateNode(graph: Graph, { node, ...args }: Args): Answer {
  const id = idOf(graph, node);
  const fields = fieldsOf(graph, args);
  if (Object.keys(fields).length === 0) throw new Error('Say what is to be different');
  const taken = fields.name ? graph.tasks.find((task) => task.id !== id && task.name === fields.name) : undefined;
  if (taken) throw new Error(`Another task is called '${fields.name}' already`);
  const circle = fields.reads
    ?.map((from) => (from === id ? linkRefusal(graph, from, id) : linkRefusal(disconnect(graph, from, id), from, id)))
    .find(Boolean);
  if (circle) throw new Error(circle);
  const changed = change(graph, id, fields);
  const before = titleOf(graph, id);
  const result =
    fields.name && fields.name !== before ? `'${before}' is now called '${fields.name}'.` : `Changed '${before}'.`;
  return {
    graph: changed,
    label: `change '${titleOf(changed, id)}'`,
    result: result + issueText(changed, [id]),
    isError: false,
    touched: [id],
  };
}

function deleteNodes(graph: Graph, args: Args): Answer {
  const ids = list(args['nodes']).map((name) => idOf(graph, name));
  const pairs = list(args['connections']).map((link) => {
    const { from, to } = (link ?? {}) as Args;
    return [idOf(graph, from), idOf(graph, to)] as const;
  });
  const missing = pairs.find(([from, to]) => !find(graph, to)?.reads.includes(from));
  if (missing) throw new Error(`'${titleOf(graph, missing[1])}' does not read '${titleOf(graph, missing[0])}'`);
  if (ids.length + pairs.length === 0) throw new Error('Name nodes or connections to remove');
  const parted = pairs.reduce((left, [from, to]) => disconnect(left, from, to), graph);
  const words = [
    ...(ids.length > 0 ? [`Removed ${quotedTitles(graph, ids)}.`] : []),
    ...pairs.map(([from, to]) => `'${titleOf(graph, to)}' no longer reads '${titleOf(graph, from)}'.`),
  ];
  const label = ids.length > 0 ? `remove ${quotedTitles(graph, ids)}` : 'disconnect';
  return {
    graph: remove(parted, ids),
    label,
    result: words.join(' '),
    isError: false,
    touched: pairs.map(([, to]) => to),
  };
}

function paste(graph: Graph, args: Args, plans: Plans): Answer {
  const reference = args['graph_ref'];
  const plan = typeof reference === 'string' ? plans(reference) : undefined;
  if (typeof reference === 'string' && !plan)
    throw new Error(`No graph called '${reference}' was planned in this conversation; send its tasks`);
  const documents = plan?.tasks ?? (list(args['tasks']) as TaskDocument[]);
  if (documents.length === 0) throw new Error('There is nothing to paste: name a graph_ref, or send tasks');
  return put(
    graph,
    { name: plan?.name ?? '', description: plan?.description ?? '', inputs: plan?.inputs ?? {}, tasks: documents },
    args['replace'] === true,
  );
}

/** Puts a planned graph on the canvas. */
export function put(graph: Graph, plan: WorkflowDocument, replaces: boolean): Answer {
  const drawn = arranged({ ...EMPTY, tasks: toTasks(plan.tasks) });
  const base = replaces ? { ...graph, tasks: [] } : graph;
  const { graph: grown, ids } = insert(base, below(base, drawn.tasks));
  const named: Graph = {
    ...grown,
    name: graph.name || plan.name,
    description: graph.description || (plan.description ?? ''),
    inputs: { ...plan.inputs, ...grown.inputs },
  };
  const count = `${ids.length} ${ids.length === 1 ? 'task' : 'tasks'}`;
  const result = `${replaces && graph.tasks.length > 0 ? 'Replaced the canvas with' : 'Put on the canvas:'} ${quotedTitles(named, ids)}.`;
  return {
    graph: named,
    label: `paste ${count}`,
    result: result + issueText(named, ids),
    isError: false,
    touched: ids,
  };
}

/** The issues of these tasks, so that the model can mend them. */
function issueText(graph: Graph, ids: readonly string[]): string {
  const found = check(graph).filter(({ task }) => task !== undefined && ids.includes(task));
  return found.length > 0 ? ` But: ${found.map((issue) => issueLine(graph, issue)).join('; ')}.` : '';
}
