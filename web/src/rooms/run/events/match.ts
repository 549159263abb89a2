// Which events are wanted, by task, type and words.

import type { StoredFrame } from '../../../run/frame';
import { taskNumber } from '../../../run/ids';

export interface EventFilter {
  /** The number of a task; 0 for all. */
  task: number;
  types: string[];
  text: string;
}

export function readFilter(params: URLSearchParams): EventFilter {
  return {
    task: Number(params.get('of') ?? 0) || 0,
    types: params.getAll('type'),
    text: params.get('text') ?? '',
  };
}

export const isFiltering = ({ task, types, text }: EventFilter): boolean =>
  task > 0 || types.length > 0 || text.trim() !== '';

/** The number of the task an event belongs to, or 0. */
export function taskOfEvent(frame: StoredFrame): number {
  const turnId = 'turnId' in frame ? frame.turnId : 'delegationId' in frame ? frame.delegationId : '';
  if (turnId) return taskNumber(turnId);
  return 'taskIndex' in frame && typeof frame.taskIndex === 'number' ? frame.taskIndex : 0;
}

export function matches(frame: StoredFrame, { task, types, text }: EventFilter): boolean {
  if (task > 0 && taskOfEvent(frame) !== task) return false;
  if (types.length > 0 && !types.includes(frame.type)) return false;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const whole = JSON.stringify(frame).toLowerCase();
  return words.every((word) => whole.includes(word));
}
