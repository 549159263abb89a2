import type { Task } from '../run/state';
import { Duration } from './Time';
import { t } from '../words/t';

/** The duration of a task in this run. */
export function TaskDuration({ task }: { task: Pick<Task, 'isInherited' | 'startedAt' | 'endedAt'> }) {
  if (task.isInherited) return <span title={t('Done in the run this one continues')}>{t('inherited')}</span>;
  return task.startedAt ? <Duration from={task.startedAt} to={task.endedAt} /> : null;
}
