// The states a fold starts from: nothing, or the server's own fold of the run.

import type { RunDetail } from '../api/types';
import { definedFields } from './defined';
import { isInherited, type StoredFrame } from './frame';
import type { Instance, RunState, Task, Totals } from './state';

const NOTHING: Totals = {
  inputTokens: 0,
  outputTokens: 0,
  modelCalls: 0,
  toolCalls: 0,
  costUsd: 0,
  unknownTokens: false,
  unpriced: false,
};

export function emptyRun(runId: string): RunState {
  return {
    runId,
    first: 0,
    next: 0,
    counted: 0,
    ensemble: '',
    workflow: 'SEQUENTIAL',
    status: 'ACCEPTED',
    acceptedAt: '',
    at: '',
    paused: false,
    tasks: [],
    groups: [],
    conversations: new Map(),
    reviews: new Map(),
    directives: new Map(),
    notes: [],
    totals: NOTHING,
  };
}

/**
 * The state to start from when a run is too long to be read from its beginning, or was made of another: the server's own
 * fold, with the links between tasks from the run's first event. The events from `first` on are folded again, which
 * does not change what they say.
 */
export function seededRun(detail: RunDetail, accepted: StoredFrame | undefined, first: number): RunState {
  const declared = accepted?.type === 'run_accepted' ? accepted.tasks : [];
  const groups = accepted?.type === 'run_accepted' ? (accepted.groups ?? []) : [];
  const { metrics } = detail;
  const cost = metrics.costEstimate;
  return {
    ...emptyRun(detail.runId),
    first,
    next: first,
    counted: detail.eventCount,
    ensemble: detail.ensemble,
    workflow: detail.workflow,
    status: detail.status,
    acceptedAt: detail.startedAt,
    startedAt: detail.startedAt,
    paused: detail.paused,
    ...(detail.model === undefined ? {} : { model: detail.model }),
    tasks: detail.tasks.map((task, position) => seededTask(task, position, declared[position])),
    groups,
    totals: {
      inputTokens: metrics.inputTokens,
      outputTokens: metrics.outputTokens,
      modelCalls: metrics.llmCalls,
      toolCalls: metrics.totalToolCalls,
      costUsd: cost ? cost.inputCost + cost.outputCost : 0,
      unknownTokens: metrics.totalTokens < 0,
      unpriced: (metrics.unpriced?.length ?? 0) > 0,
    },
  };
}

type Declared = Extract<StoredFrame, { type: 'run_accepted' }>['tasks'][number];
type DetailTask = RunDetail['tasks'][number];

function seededTask(detail: DetailTask, position: number, declared: Declared | undefined): Task {
  return definedFields<Task>({
    index: position + 1,
    name: detail.name,
    role: detail.agentRole,
    context: declared?.context ?? [],
    when: declared?.when,
    forEach: declared?.forEach,
    instances: detail.instances?.map(seededInstance),
    status: detail.status,
    description: detail.description,
    ...(detail.model === undefined ? {} : { model: detail.model }),
    startedAt: detail.startedAt,
    endedAt: detail.completedAt,
    tokens: detail.tokenCount ?? 0,
    toolCalls: detail.toolCallCount ?? 0,
    output: detail.output,
    parsed: detail.parsedOutput,
    error: detail.error,
    isInherited: isInherited(detail) || undefined,
    outputEditedBy: detail.outputEditedBy,
  });
}

function seededInstance(detail: NonNullable<DetailTask['instances']>[number]): Instance {
  return definedFields<Instance>({
    id: detail.turnId,
    item: detail.item,
    round: detail.round,
    description: detail.taskDescription,
    status: detail.status,
    startedAt: detail.startedAt,
    endedAt: detail.completedAt,
    tokens: detail.tokenCount ?? 0,
    toolCalls: detail.toolCallCount ?? 0,
    output: detail.output,
    error: detail.error,
    isInherited: isInherited(detail) || undefined,
  });
}
