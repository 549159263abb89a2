import { Link } from 'react-router';
import type { Task, TaskGroup } from '../../run/state';
import { instanceName, shortError } from '../../run/words';
import { count, preview } from '../../ui/format';
import { StatusIcon } from '../../ui/Status';
import { TaskDuration } from '../../ui/TaskDuration';
import panel from '../../ui/Panel.module.css';
import css from './TaskPanel.module.css';
import { t } from '../../words/t';

/** The conditions and lists that decide about a task, as they were written. */
export function BranchFacts({ task, group }: { task: Task; group: TaskGroup | undefined }) {
  const facts = [
    [t('Only when'), task.when],
    [t('For each of'), task.forEach],
    [t('Group'), group?.name],
    [t('Group only when'), group?.when],
    [t('Group for each of'), group?.forEach],
    [t('Repeated until'), group?.repeatUntil],
  ].filter(([, text]) => text);
  return facts.map(([name, text]) => (
    <FactRow key={name} name={name ?? ''}>
      {name === t('Group') ? text : <code>{text}</code>}
    </FactRow>
  ));
}

function FactRow({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

/** The results of a task for each item, or in each round. */
export function Instances({ runId, task: { instances } }: { runId: string; task: Task }) {
  if (!instances || instances.length === 0) return null;
  const title = instances.some(({ round }) => round !== undefined) ? t('Rounds') : t('Items');
  return (
    <div className={panel.section}>
      <h3>{title}</h3>
      <ul className={css.instances} aria-label={title}>
        {instances.map((instance) => (
          <li key={instance.id}>
            <StatusIcon status={instance.status} size={14} />
            <Link to={`/runs/${runId}/conversation?turn=${instance.id}`}>{instanceName(instance)}</Link>
            <span title={instance.error ?? instance.description}>
              {instance.error ? shortError(instance.error) : preview(instance.output ?? instance.description ?? '')}
            </span>
            <small>
              {instance.tokens > 0 ? t('{value} tokens · ', { value: count(instance.tokens) }) : ''}
              <TaskDuration task={instance} />
            </small>
          </li>
        ))}
      </ul>
    </div>
  );
}
