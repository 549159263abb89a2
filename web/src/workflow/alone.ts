// One task of a workflow as a run of its own: what it would read of others is given with the request.

import type { Body } from '../api/types';
import { givenNames, referencesOf, toTaskDocument, typedInput } from './convert';
import { find, type Graph, variables } from './graph';
import { t } from '../words/t';

/** The tasks that a task reads, by name, in the order they are read. */
export function readNames(graph: Graph, id: string): string[] {
  const names = givenNames(graph.tasks);
  const reads = find(graph, id)?.reads ?? [];
  return graph.tasks.flatMap((task, at) => (reads.includes(task.id) ? (names[at] ?? []) : []));
}

/** The inputs a task alone asks for. */
export function inputNames(graph: Graph, id: string): string[] {
  const tasks = graph.tasks.filter((task) => task.id === id);
  return variables({ ...graph, groups: [], tasks: tasks.map((task) => ({ ...task, when: '', forEach: '' })) });
}

export interface Pinned {
  /** The outputs it reads, by the names of their tasks. */
  outputs: Record<string, string>;
  inputs: Record<string, string>;
}

/** The request for a run of this task. Outputs are inputs of the run, so that braces in them stay as they are. */
export function aloneRequest(graph: Graph, id: string, { outputs, inputs }: Pinned): Body<'POST /api/runs'> {
  const at = graph.tasks.findIndex((task) => task.id === id);
  const task = graph.tasks[at];
  if (!task) throw new Error(t('The task is gone'));
  const read = readNames(graph, id).map((name, position) => ({ name, input: `pinned_${position + 1}` }));
  // Whether and how often it is done is decided here, by who runs it.
  const once = { ...task, when: '', forEach: '', maxItems: '', maxParallel: '' };
  const { context: _context, position: _position, ...document } = toTaskDocument(referencesOf(graph), once);
  const told = [
    ...(document.additionalContext ? [document.additionalContext] : []),
    ...read.map(({ name, input }) => `The output of '${name}':\n\n{${input}}`),
  ].join('\n\n');
  const { workflow: _workflow, ...options } = graph.options;
  return {
    tasks: [{ ...document, name: givenNames(graph.tasks)[at] ?? '', ...(told ? { additionalContext: told } : {}) }],
    inputs: {
      ...Object.fromEntries(
        inputNames(graph, id).flatMap((name) =>
          pair(name, inputs[name] ? typedInput(inputs[name]) : graph.inputs[name]),
        ),
      ),
      ...Object.fromEntries(read.map(({ name, input }) => [input, outputs[name] ?? ''])),
    },
    ...(Object.keys(options).length > 0 ? { options } : {}),
  };
}

const pair = (name: string, value: unknown): [string, unknown][] => (value === undefined ? [] : [[name, value]]);
