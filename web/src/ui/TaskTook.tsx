import type { Task } from '../run/state';
import { Took } from './Time';

/** How long a task took in this run. */
export function TaskTook({ task }: { task: Task }) {
  if (task.isInherited) return <span title="Done in the run this one was made of">inherited</span>;
  return task.startedAt ? <Took from={task.startedAt} to={task.endedAt} /> : null;
}
