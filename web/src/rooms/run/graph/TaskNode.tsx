import { Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import { memo } from 'react';
import { activityText } from '../../../run/activity';
import type { Conversation, Task } from '../../../run/state';
import shared from '../../../ui/Canvas.module.css';
import { count } from '../../../ui/format';
import { StatusIcon, statusTone } from '../../../ui/Status';
import { TaskDuration } from '../../../ui/TaskDuration';
import css from './Graph.module.css';

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
            {task.role}
            {task.model ? ` · ${task.model}` : ''}
          </span>
          <span>
            {task.tokens > 0 ? `${count(task.tokens)} tokens` : ''}
            {task.toolCalls > 0 ? ` · ${task.toolCalls} ${task.toolCalls === 1 ? 'call' : 'calls'}` : ''}
          </span>
        </span>
      </button>
      <Handle type="source" position={sourcePosition} isConnectable={false} />
    </>
  );
});

function line(task: Task, conversation: Conversation | undefined): { text: string; tone?: string } {
  if (task.error) return { text: task.error, tone: task.status === 'FAILED' ? 'bad' : 'plain' };
  if (task.status === 'WAITING') return { text: 'waits for a review', tone: 'warn' };
  if (task.status === 'RUNNING')
    return conversation
      ? { text: activityText(conversation), tone: conversation.phase.kind === 'retrying' ? 'warn' : 'live' }
      : { text: 'is under way', tone: 'live' };
  if (task.status === 'COMPLETED') return { text: firstLine(task.output ?? '') };
  return { text: task.context.length > 0 ? 'waits for the tasks it reads' : 'not yet started' };
}

function firstLine(output: string): string {
  const found = output.split('\n').find((text) => text.trim() !== '') ?? '';
  return found
    .replace(/^[#>*\-\s]+/, '')
    .replaceAll('**', '')
    .slice(0, 120);
}
