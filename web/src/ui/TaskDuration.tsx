import type { Task } from '../run/state';
import { Duration } from './Time';

/** The duration of a task in this run. */
export function TaskDuration({ task }: { task: Task }) {
  if (task.isInherited) return <span title="Done in the run this one was made of">inherited</span>;
  return task.startedAt ? <Duration from={task.startedAt} to={task.endedAt} /> : null;
}
