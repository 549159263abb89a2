import { describe, expect, it } from 'vitest';
import { fold } from './fold';
import { emptyRun } from './seed';
import { told } from './fixture';

describe('a hierarchical run', () => {
  const run = fold(
    emptyRun('run-1'),
    told(
      {
        type: 'run_accepted',
        ensemble: 'demo',
        workflow: 'HIERARCHICAL',
        totalTasks: 1,
        tasks: [{ taskIndex: 1, name: 'write', agentRole: 'Writer', context: [] }],
      },
      { type: 'ensemble_started', totalTasks: 1, workflow: 'HIERARCHICAL' },
      {
        type: 'task_started',
        taskIndex: 1,
        turnId: '2',
        taskName: 'Manager',
        agentRole: 'Manager',
        taskDescription: 'Manage',
      },
      {
        type: 'llm_iteration_started',
        taskIndex: 1,
        turnId: '2',
        agentRole: 'Manager',
        taskDescription: 'Manage',
        iterationIndex: 0,
        model: 'm',
        messages: [],
        totalMessageCount: 0,
      },
      {
        type: 'delegation_started',
        delegationId: '2.0.0',
        delegatingAgentRole: 'Manager',
        workerRole: 'Writer',
        taskDescription: 'Write it',
      },
      {
        type: 'llm_iteration_started',
        taskIndex: 1,
        turnId: '2.0.0',
        agentRole: 'Writer',
        taskDescription: 'Write it',
        iterationIndex: 0,
        model: 'm',
        messages: [],
        totalMessageCount: 0,
      },
    ),
  );

  it('has its manager beside the declared tasks and a conversation for each errand', () => {
    expect(run.tasks).toMatchObject([
      { name: 'write', status: 'RUNNING' },
      { name: 'Manager', isManager: true, status: 'RUNNING' },
    ]);
    expect(run.conversations.get('2.0.0')).toMatchObject({ parent: '2', role: 'Writer', taskIndex: 2 });
    expect(run.conversations.get('2')?.items[0]).toMatchObject({ calls: [{ id: '2.0.0', isConversation: true }] });
  });
});
