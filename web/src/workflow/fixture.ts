// A workflow of two tasks, for tests.

import type { WorkflowDocument } from '../api/types';
import { toGraph } from './convert';
import { type Graph } from './graph';

export const REPORT: WorkflowDocument = {
  name: 'report',
  tasks: [
    {
      name: 'read',
      description: 'Read about {topic}',
      tools: ['calculator'],
      position: { x: 10, y: 20 },
      agent: { role: 'Reader', allowDelegation: true },
    },
    {
      name: 'write',
      description: 'Write it up',
      context: ['$read'],
      position: { x: 400, y: 20 },
      outputSchema: { type: 'object' },
      review: 'required',
      maxIterations: 3,
    },
  ],
  inputs: { topic: 'bees' },
  options: { workflow: 'PARALLEL' },
};

export const drawn = (): Graph => toGraph(REPORT);
export const [READ, WRITE] = ['t1', 't2'];
export const ids = (graph: Graph): string[] => graph.tasks.map(({ id }) => id);
