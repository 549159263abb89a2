import { IconAlertTriangle, IconPencilQuestion } from '@tabler/icons-react';
import { Handle, type Node as FlowNode, type NodeProps, Position } from '@xyflow/react';
import { type KeyboardEvent, memo, type MouseEvent } from 'react';
import { activityText } from '../../run/activity';
import type { Task as RunTask, Conversation } from '../../run/state';
import shared from '../../ui/Canvas.module.css';
import { StatusIcon, statusText, statusTone } from '../../ui/Status';
import { TaskDuration } from '../../ui/TaskDuration';
import type { Task } from '../../workflow/graph';
import { NODE_HEIGHT, NODE_WIDTH } from '../run/graph/layout';
import css from './Canvas.module.css';
import type { Point } from '../../ui/point';
import { t } from '../../words/t';

export interface NodeActions {
  choose: (id: string, isMore: boolean) => void;
  /** Handles a key pressed on a task; returns whether it had a meaning. */
  pressed: (id: string, event: KeyboardEvent) => boolean;
}

export type NodeData = {
  task: Task;
  title: string;
  reads: string;
  issues: string;
  isSelected: boolean;
  isTouched: boolean;
  /** Planned, and not yet part of the workflow. */
  isGhost: boolean;
  isLinking: boolean;
  ran: RunTask | undefined;
  conversation: Conversation | undefined;
  actions: NodeActions | undefined;
};

export type NodeType = FlowNode<NodeData>;

const HANDLES = [
  { type: 'target' as const, position: Position.Left, x: -5, y: NODE_HEIGHT / 2 - 5, width: 10, height: 10 },
  {
    type: 'source' as const,
    position: Position.Right,
    x: NODE_WIDTH - 5,
    y: NODE_HEIGHT / 2 - 5,
    width: 10,
    height: 10,
  },
];
const SIZE = { width: NODE_WIDTH, height: NODE_HEIGHT };

export function node(data: NodeData, at: Point, prefix = ''): NodeType {
  return {
    id: prefix + data.task.id,
    type: 'task',
    position: at,
    ...SIZE,
    measured: SIZE,
    handles: HANDLES,
    draggable: !data.isGhost,
    connectable: !data.isGhost,
    data,
  };
}

/** The known node when the next one looks the same, else the next one. */
export function kept(known: NodeType | undefined, next: NodeType): NodeType {
  const isSame =
    known &&
    known.position === next.position &&
    (Object.keys(next.data) as (keyof NodeData)[]).every((field) => known.data[field] === next.data[field]);
  return known && isSame ? known : next;
}

/** A task on the canvas, with its status while a run is watched. */
export const Node = memo(function Node({ data, isConnectable }: NodeProps<NodeType>) {
  const { task, title, reads, issues, isSelected, isTouched, isGhost, isLinking, ran, actions } = data;
  const branch = [
    task.when ? t('when {when}', { when: task.when }) : '',
    task.forEach ? t('for each of {forEach}', { forEach: task.forEach }) : '',
  ]
    .filter(Boolean)
    .join(' · ');
  const facts = [branch, task.role, task.model, task.tools.join(', '), task.review === 'required' ? t('reviewed') : '']
    .filter(Boolean)
    .join(' · ');
  const unseen = [
    isGhost ? t('planned') : '',
    ran ? statusText(ran.status) : '',
    reads ? t('reads {reads}', { reads }) : '',
    issues ? t('wrong: {issues}', { issues }) : '',
  ]
    .filter(Boolean)
    .map((part) => `, ${part}`)
    .join('');
  const pressed = (event: KeyboardEvent): void => {
    if (!actions?.pressed(task.id, event)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  const clicked = (event: MouseEvent): void =>
    actions?.choose(task.id, event.shiftKey || event.metaKey || event.ctrlKey);
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={isConnectable} aria-hidden />
      <button
        type="button"
        className={`${shared.node} ${css.node}`}
        aria-pressed={isSelected}
        data-task={task.id}
        data-ghost={isGhost || undefined}
        data-fresh={isTouched || undefined}
        data-linking={isLinking || undefined}
        data-wrong={issues ? true : undefined}
        data-tone={ran ? statusTone(ran.status) : undefined}
        disabled={isGhost}
        onClick={clicked}
        onKeyDown={pressed}
      >
        <span className={`${shared.first} ${css.first}`}>
          {ran ? (
            <span className={css.icon} aria-hidden>
              <StatusIcon status={ran.status} size={15} />
            </span>
          ) : isGhost ? (
            <IconPencilQuestion size={15} aria-hidden />
          ) : null}
          <strong>
            {title}
            <span className="visually-hidden">{unseen}.</span>
          </strong>
          {issues ? (
            <span className={css.wrong} title={issues}>
              <IconAlertTriangle size={15} aria-hidden />
            </span>
          ) : null}
          {ran?.startedAt ? (
            <small>
              <TaskDuration task={ran} />
            </small>
          ) : null}
        </span>
        <Line data={data} isLong={!facts} />
        {facts ? (
          <span className={shared.last}>
            <span>{facts}</span>
          </span>
        ) : null}
      </button>
      <Handle type="source" position={Position.Right} isConnectable={isConnectable} aria-hidden />
    </>
  );
});

/** The second line of a task: its progress or result, its issues, or its description. */
function Line({ data: { task, issues, ran, conversation }, isLong }: { data: NodeData; isLong: boolean }) {
  if (ran?.error)
    return (
      <span
        className={`${shared.line} ${css.line}`}
        data-long={isLong || undefined}
        data-tone={ran.status === 'FAILED' ? 'bad' : undefined}
      >
        {ran.error}
      </span>
    );
  if (ran?.status === 'RUNNING')
    return (
      <span className={`${shared.line} ${css.line}`} data-long={isLong || undefined} data-tone="live">
        {conversation ? activityText(conversation) : t('is under way')}
      </span>
    );
  if (ran?.status === 'WAITING')
    return (
      <span className={`${shared.line} ${css.line}`} data-long={isLong || undefined} data-tone="warn">
        {t('waits for a review')}
      </span>
    );
  if (ran?.output !== undefined)
    return (
      <span className={`${shared.line} ${css.line}`} data-long={isLong || undefined}>
        {ran.output
          .replaceAll(/[#>*_`]/g, '')
          .trim()
          .slice(0, 140)}
      </span>
    );
  if (issues)
    return (
      <span className={`${shared.line} ${css.line}`} data-long={isLong || undefined} data-tone="bad" aria-hidden>
        {issues}
      </span>
    );
  return (
    <span className={`${shared.line} ${css.line}`} data-long={isLong || undefined}>
      {task.description}
    </span>
  );
}
