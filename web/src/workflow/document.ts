// A workflow as the server keeps it.

import type { RunOptions } from '../api/types';
import type { Place } from './graph';

export interface TaskDocument {
  name?: string;
  description: string;
  expectedOutput?: string;
  additionalContext?: string;
  agent?: { role: string; goal?: string; background?: string; allowDelegation?: boolean };
  model?: string;
  tools?: string[];
  context?: (string | number)[];
  maxIterations?: number | string;
  outputSchema?: unknown;
  review?: 'required' | 'skip';
  position?: Place | null;
}

export interface WorkflowDocument {
  name: string;
  description?: string | null;
  tasks: TaskDocument[];
  inputs?: Record<string, string>;
  options?: RunOptions | null;
}

/** One version, as it was saved. */
export interface SavedWorkflow extends WorkflowDocument {
  id: string;
  version: number;
  createdAt: string;
  updatedAt: string;
  updatedBy: string;
  warnings?: string[];
}

/** A workflow in the list. */
export interface ListedWorkflow {
  id: string;
  name: string;
  description: string | null;
  tasks: number;
  version: number;
  createdAt: string;
  updatedAt: string;
  updatedBy: string;
}

/** A version in the history. */
export interface ListedVersion {
  version: number;
  savedAt: string;
  savedBy: string;
  name: string;
  tasks: number;
}
