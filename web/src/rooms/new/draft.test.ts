import { describe, expect, it } from 'vitest';
import type { Capabilities } from '../../api/types';
import { emptyDraft, NO_OVERRIDE, ownTask, toRequest, variables } from './draft';

const CAPABILITIES: Capabilities = {
  tools: [],
  models: [],
  sharedTasks: [],
  sharedTools: [],
  mcpServers: [],
  inputs: {},
  preconfiguredTasks: [{ name: 'write', description: 'Write {topic}', tools: [], variables: ['topic'] }],
};

describe('a composed request', () => {
  it('holds what was filled in and nothing else', () => {
    const draft = emptyDraft(CAPABILITIES);
    expect(toRequest(draft)).toEqual({});
    expect(
      toRequest({
        ...draft,
        inputs: { topic: 'bees', other: '' },
        tags: ['team:web', 'urgent'],
        overrides: { write: { ...NO_OVERRIDE, model: 'swift', maxIterations: '3' } },
      }),
    ).toEqual({
      inputs: { topic: 'bees' },
      tags: { team: 'web', urgent: '' },
      taskOverrides: { write: { model: 'swift', maxIterations: 3 } },
    });
  });

  it('refers to tasks by name, or by position while they have none', () => {
    const tasks = [
      { ...ownTask(5), name: 'a', description: 'A' },
      { ...ownTask(6), description: 'B', context: [5] },
      { ...ownTask(7), description: 'C', context: [6], isReviewed: true },
    ];
    expect(toRequest({ ...emptyDraft(CAPABILITIES), source: 'own', tasks })).toEqual({
      tasks: [
        { name: 'a', description: 'A' },
        { description: 'B', context: ['$a'] },
        { description: 'C', context: ['$1'], review: 'required' },
      ],
    });
  });

  it('names the agent of a task, and leaves out one that nobody described', () => {
    const tasks = [
      {
        ...ownTask(1),
        description: 'A',
        role: 'Editor for {paper}',
        goal: 'Clear words',
        mayDelegate: true,
        tools: ['network:#food'],
      },
      { ...ownTask(2), description: 'B' },
      { ...ownTask(3), description: 'C', goal: 'x' },
    ];
    const draft = { ...emptyDraft(CAPABILITIES), source: 'own' as const, tasks };
    expect(variables(draft, CAPABILITIES)).toEqual(['paper']);
    expect(toRequest(draft)).toEqual({
      tasks: [
        {
          description: 'A',
          agent: { role: 'Editor for {paper}', goal: 'Clear words', allowDelegation: true },
          tools: ['network:#food'],
        },
        { description: 'B' },
        { description: 'C', agent: { goal: 'x' } },
      ],
    });
  });
});

describe('tasks of my own', () => {
  it('bring the variables of their texts as inputs', () => {
    const tasks = [
      {
        ...ownTask(1),
        description: 'Write about {topic} as {{json}} for {audience}',
        expectedOutput: '{topic}, in short',
      },
    ];
    const draft = { ...emptyDraft(CAPABILITIES), source: 'own' as const, tasks, inputs: { topic: 'bees', other: 'x' } };
    expect(variables(draft, CAPABILITIES)).toEqual(['topic', 'audience']);
    expect(toRequest(draft).inputs).toEqual({ topic: 'bees' });
  });
});
