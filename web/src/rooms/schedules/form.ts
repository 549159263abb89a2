// A schedule as it is written in the form, and as it is sent.

import type { Body } from '../../api/types';
import type { Schedule } from './Row';

export interface Draft {
  name: string;
  kind: 'cron' | 'every';
  cron: string;
  every: string;
  timezone: string;
  /** The id or the name of a workflow; empty: the ensemble. */
  workflow: string;
  /** A JSON object, or nothing. */
  inputs: string;
  overlap: Schedule['overlap'];
  catchUp: Schedule['catchUp'];
  window: string;
  jitter: string;
}

export function draftOf(schedule: Schedule | undefined, timezone: string): Draft {
  const inputs = Object.keys(schedule?.inputs ?? {}).length > 0 ? JSON.stringify(schedule?.inputs, null, 2) : '';
  return {
    name: schedule?.name ?? '',
    kind: schedule && schedule.cron === null ? 'every' : 'cron',
    cron: schedule?.cron ?? '0 8 * * MON',
    every: schedule?.every ?? '15m',
    timezone: schedule?.timezone ?? timezone,
    workflow: schedule?.workflow ?? '',
    inputs,
    overlap: schedule?.overlap ?? 'skip',
    catchUp: schedule?.catchUp ?? 'one',
    window: schedule?.window ?? '1h',
    jitter: schedule?.jitter ?? '0s',
  };
}

/** The inputs, or nothing where the text is no JSON object. */
export function inputsOf(text: string): Record<string, unknown> | undefined {
  if (!text.trim()) return {};
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** The request that makes it, or that changes everything but its name. */
export function requestOf(draft: Draft): Body<'PATCH /api/schedules/{name}'> {
  const { kind, cron, every, timezone, workflow, inputs, overlap, catchUp, window, jitter } = draft;
  return {
    ...(kind === 'cron' ? { cron, timezone } : { every }),
    workflow: workflow || null,
    inputs: inputsOf(inputs) ?? {},
    overlap,
    catchUp,
    window,
    jitter,
  };
}
