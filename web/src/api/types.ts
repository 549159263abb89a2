// The server's types by the names this UI gives them. All of them come from the server's own descriptions:
// `npm run types` of the TypeScript client makes them.

import type * as api from '../../../clients/typescript/src/generated/api';

export type {
  Accepted,
  Approval,
  Capabilities,
  Capability,
  Invoked,
  ListedTurn,
  ListedWorkflow,
  Message,
  Network,
  Peer,
  Rehearsal,
  RememberedFact,
  Review,
  RunDetail,
  RunRequest,
  Said,
  Thread,
  Workflow as SavedWorkflow,
  WorkflowDocument,
  WorkflowTask as TaskDocument,
  WorkflowVersion as ListedVersion,
} from '../../../clients/typescript/src/generated/api';

/** The answer to a request, such as `Answer<'GET /api/runs'>`. */
export type Answer<R extends keyof api.Requests> = api.Requests[R]['answer'];
/** The body of a request. */
export type Body<R extends keyof api.Requests> = api.Requests[R] extends { body: infer B } ? B : never;

export type RunRow = api.Run;
export type RunStatus = RunRow['status'];
export type Workflow = RunRow['workflow'];
export type WaitingFor = NonNullable<RunRow['waitingFor']>;
export type TaskStatus = api.Task['status'];
export type CancelMode = 'after_task' | 'after_iteration' | 'now';

export type ToolInfo = api.Capabilities['tools'][number];
export type ModelInfo = api.Capabilities['models'][number];
export type PreconfiguredTask = api.Capabilities['preconfiguredTasks'][number];

export type TaskDraft = api.TaskRequest;
export type TaskOverride = api.Override;
/** Spelt as the server answers; it takes them in any case. */
export type RunOptions = api.Options & { workflow?: Workflow };

/** This UI finds some itself, with codes of its own. */
export type Mistake = Omit<api.Mistake, 'error'> & { error: string };

/** A person's decision on a review; the server describes it as one loose object. */
export type Decision =
  | { decision: 'CONTINUE' | 'EXIT_EARLY' }
  | { decision: 'EDIT'; revisedOutput: string }
  | { decision: 'REJECT'; feedback: string };
