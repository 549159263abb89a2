import { Link } from 'react-router';
import { isOver } from '../../run/frame';
import { activityText } from '../../run/activity';
import { conversationOf } from '../../run/instances';
import type { RunState, Task } from '../../run/state';
import { Markdown } from '../../ui/Markdown';
import { StatusPill } from '../../ui/Status';
import { TaskDuration } from '../../ui/TaskDuration';
import css from './Editor.module.css';
import { t } from '../../words/t';

/** The status and the output of the selected task in the run that is watched. */
export function RunTask({ run, task }: { run: RunState; task: Task }) {
  const conversation = conversationOf(run, task);
  return (
    <section className={css.ran} aria-label={t('{name} in this run', { name: task.name })}>
      <header>
        <StatusPill status={task.status} />
        <TaskDuration task={task} />
        <Link to={`/runs/${run.runId}/conversation?turn=${task.index}`}>{t('Conversation')}</Link>
      </header>
      {conversation && !isOver(task.status) ? (
        <p>
          {task.name} {activityText(conversation)}
        </p>
      ) : null}
      {task.error ? <p className={css.bad}>{task.error}</p> : null}
      {task.output === undefined ? null : (
        <div className={css.output} tabIndex={0} role="region" aria-label={t('Output')}>
          <Markdown text={task.output} />
        </div>
      )}
    </section>
  );
}
