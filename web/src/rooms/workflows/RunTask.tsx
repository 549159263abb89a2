import { Link } from 'react-router';
import { isOver } from '../../run/frame';
import { doing } from '../../run/now';
import type { RunState, Task } from '../../run/state';
import { Markdown } from '../../ui/Markdown';
import { StatusPill } from '../../ui/Status';
import { TaskTook } from '../../ui/TaskTook';
import css from './Editor.module.css';

/** How the selected task stands in the run that is watched, and what came of it. */
export function RunTask({ run, task }: { run: RunState; task: Task }) {
  const conversation = run.conversations.get(String(task.index));
  return (
    <section className={css.ran} aria-label={`${task.name} in this run`}>
      <header>
        <StatusPill standing={task.status} />
        <TaskTook task={task} />
        <Link to={`/runs/${run.runId}/conversation?turn=${task.index}`}>Conversation</Link>
      </header>
      {conversation && !isOver(task.status) ? (
        <p>
          {task.name} {doing(conversation)}
        </p>
      ) : null}
      {task.error ? <p className={css.bad}>{task.error}</p> : null}
      {task.output === undefined ? null : (
        <div className={css.output} tabIndex={0} role="region" aria-label="Output">
          <Markdown text={task.output} />
        </div>
      )}
    </section>
  );
}
