// The run being composed, and its request. Empty fields are left out, so that the server's defaults hold.

import type { Capabilities, RunOptions, RunRequest, TaskDraft, TaskOverride, Workflow } from '../../api/types';
import type { AgentDraft } from '../../ui/AgentFields';
import { variablesIn } from '../../workflow/variables';

type AgentRequest = NonNullable<TaskDraft['agent']>;

export interface Draft {
  source: 'ensemble' | 'own';
  inputs: Record<string, string>;
  overrides: Record<string, Override>;
  tasks: OwnTask[];
  tags: string[];
  workflow: '' | Workflow;
  reviewPolicy: '' | NonNullable<RunOptions['reviewPolicy']>;
  captureMode: '' | NonNullable<RunOptions['captureMode']>;
}

export interface Override {
  description: string;
  expectedOutput: string;
  additionalContext: string;
  model: string;
  maxIterations: string;
  addTools: string[];
  removeTools: string[];
}

export interface OwnTask extends AgentDraft {
  /** Its identity while names change. */
  id: number;
  name: string;
  description: string;
  expectedOutput: string;
  model: string;
  tools: string[];
  /** The ids of the tasks it reads. */
  context: number[];
  isReviewed: boolean;
}

export const NO_OVERRIDE: Override = {
  description: '',
  expectedOutput: '',
  additionalContext: '',
  model: '',
  maxIterations: '',
  addTools: [],
  removeTools: [],
};

export const ownTask = (id: number): OwnTask => ({
  id,
  name: '',
  description: '',
  expectedOutput: '',
  role: '',
  goal: '',
  background: '',
  mayDelegate: false,
  model: '',
  tools: [],
  context: [],
  isReviewed: false,
});

export function emptyDraft(capabilities: Capabilities): Draft {
  const source = capabilities.preconfiguredTasks.length > 0 ? 'ensemble' : 'own';
  return {
    source,
    inputs: {},
    overrides: {},
    tasks: [ownTask(1)],
    tags: [],
    workflow: '',
    reviewPolicy: '',
    captureMode: '',
  };
}

/** The variables of the tasks, each once. */
export function variables({ source, tasks }: Draft, { preconfiguredTasks }: Capabilities): string[] {
  return source === 'own' ? ownVariables(tasks) : [...new Set(preconfiguredTasks.flatMap((task) => task.variables))];
}

function ownVariables(tasks: readonly OwnTask[]): string[] {
  const texts = tasks.flatMap(({ description, expectedOutput, role, goal, background }) => [
    description,
    expectedOutput,
    role,
    goal,
    background,
  ]);
  return variablesIn(texts);
}

export function toRequest(draft: Draft): RunRequest {
  const overrides = Object.entries(draft.overrides).map(
    ([name, override]) => [name, overrideRequest(override)] as const,
  );
  const changed = overrides.filter(([, override]) => Object.keys(override).length > 0);
  const options = nonEmptyFields<RunOptions>({
    workflow: draft.workflow,
    reviewPolicy: draft.reviewPolicy,
    captureMode: draft.captureMode,
  });
  return nonEmptyFields<RunRequest>({
    inputs: nonEmptyFields(
      draft.source === 'ensemble'
        ? draft.inputs
        : Object.fromEntries(ownVariables(draft.tasks).map((name) => [name, draft.inputs[name] ?? ''])),
    ),
    taskOverrides: draft.source === 'ensemble' ? Object.fromEntries(changed) : {},
    tasks: draft.source === 'own' ? draft.tasks.map((task) => taskRequest(task, draft.tasks)) : [],
    tags: Object.fromEntries(draft.tags.map(tagEntry)),
    options,
  });
}

function tagEntry(text: string): [string, string] {
  const at = text.indexOf(':');
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

function overrideRequest({ maxIterations, addTools, removeTools, ...texts }: Override): TaskOverride {
  const limit = Number(maxIterations);
  return nonEmptyFields<TaskOverride>({
    ...texts,
    maxIterations: limit > 0 ? limit : undefined,
    tools: nonEmptyFields({ add: addTools, remove: removeTools }),
  });
}

function taskRequest(
  { id: _id, context, isReviewed, role, goal, background, mayDelegate, ...task }: OwnTask,
  all: readonly OwnTask[],
): TaskDraft {
  const reference = (wanted: number): string => {
    const position = all.findIndex((other) => other.id === wanted);
    return `$${all[position]?.name || position}`;
  };
  // A goal without a role is sent as it is, so that the server says what is missing.
  const agent = nonEmptyFields<AgentRequest>({ role, goal, background, allowDelegation: mayDelegate || undefined });
  return nonEmptyFields<TaskDraft>({
    ...task,
    description: task.description,
    agent,
    context: context.map(reference),
    review: isReviewed ? 'required' : undefined,
  });
}

/** The same fields without the empty ones. */
function nonEmptyFields<T extends object>(value: { [K in keyof T]: T[K] | '' | undefined }): T {
  const isFull = (field: unknown): boolean =>
    field !== undefined &&
    field !== '' &&
    !(typeof field === 'object' && field !== null && Object.keys(field).length === 0);
  return Object.fromEntries(Object.entries(value).filter(([, field]) => isFull(field))) as T;
}
