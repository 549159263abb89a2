import { Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import { IconGitBranch } from '@tabler/icons-react';
import { memo } from 'react';
import { instanceName, shortError } from '../../../run/words';
import { activityText } from '../../../run/activity';
import type { Conversation, Task } from '../../../run/state';
import shared from '../../../ui/Canvas.module.css';
import { count, preview } from '../../../ui/format';
import { StatusIcon, statusText, statusTone } from '../../../ui/Status';
import { TaskDuration } from '../../../ui/TaskDuration';
import css from './Graph.module.css';
import { plural, t } from '../../../words/t';

export type TaskNodeData = {
  task: Task;
  conversation: Conversation | undefined;
  isChosen: boolean;
  choose: (index: number) => void;
};

/** A task: how it stands, what it does now, who does it with which model, what it has used. */
export const TaskNode = memo(function TaskNode({
  data,
  sourcePosition = Position.Right,
  targetPosition = Position.Left,
}: NodeProps<Node<TaskNodeData>>) {
  const { task, conversation, isChosen, choose } = data;
  const { text, tone } = line(task, conversation);
  return (
    <>
      <Handle type="target" position={targetPosition} isConnectable={false} />
      <button
        type="button"
        className={`${shared.node} ${css.node}`}
        data-tone={statusTone(task.status)}
        aria-pressed={isChosen}
        onClick={() => choose(task.index)}
      >
        <span className={shared.first}>
          <StatusIcon status={task.status} size={15} />
          <strong>{task.name}</strong>
          {task.when ? <IconGitBranch size={13} aria-label={t('only when {when}', { when: task.when })} /> : null}
          {task.startedAt ? (
            <small>
              <TaskDuration task={task} />
            </small>
          ) : null}
        </span>
        <span className={shared.line} data-tone={tone}>
          {text}
        </span>
        <span className={shared.last}>
          <span>
            {partsText(task) || task.role}
            {task.model ? ` · ${task.model}` : ''}
          </span>
          <span>
            {task.tokens > 0 ? t('{value} tokens', { value: count(task.tokens) }) : ''}
            {task.toolCalls > 0 ? ` · ${plural(task.toolCalls, '{n} call', '{n} calls')}` : ''}
          </span>
        </span>
        <Parts instances={task.instances} />
      </button>
      <Handle type="source" position={sourcePosition} isConnectable={false} />
    </>
  );
});

/** Parts drawn; more would be thinner than a pixel. */
const PARTS_MAX = 60;

function Parts({ instances }: { instances: Task['instances'] }) {
  if (!instances || instances.length === 0) return null;
  return (
    <span className={css.parts} aria-hidden>
      {instances.slice(-PARTS_MAX).map((instance) => (
        <i
          key={instance.id}
          className={shared.tone}
          data-tone={statusTone(instance.status)}
          title={`${instanceName(instance)}: ${statusText(instance.status)}`}
        />
      ))}
    </span>
  );
}

/** The progress of a task that is done for items or in rounds. */
function partsText({ instances = [], forEach }: Task): string {
  if (instances.length === 0) return forEach ? t('for each item') : '';
  const over = instances.filter(({ status }) => status !== 'RUNNING' && status !== 'WAITING').length;
  const items = new Set(instances.flatMap(({ item }) => item ?? [])).size;
  const rounds = Math.max(0, ...instances.map(({ round = -1 }) => round + 1));
  return [
    ...(rounds > 0 ? [plural(rounds, '{n} round', '{n} rounds')] : []),
    ...(items > 0 ? [t('{over} of {count} items', { over, count: instances.length })] : []),
  ].join(' · ');
}

function line(task: Task, conversation: Conversation | undefined): { text: string; tone?: string } {
  if (task.error) return { text: shortError(task.error), tone: task.status === 'FAILED' ? 'bad' : 'plain' };
  if (task.status === 'WAITING') return { text: t('waits for a review'), tone: 'warn' };
  if (task.status === 'SKIPPED') return { text: t('skipped') };
  if (task.status === 'RUNNING')
    return conversation
      ? { text: activityText(conversation), tone: conversation.phase.kind === 'retrying' ? 'warn' : 'live' }
      : { text: t('is under way'), tone: 'live' };
  if (task.status === 'COMPLETED') return { text: preview(task.output ?? '') };
  return { text: task.context.length > 0 ? t('waits for the tasks it reads') : t('not yet started') };
}
