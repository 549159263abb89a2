import { Button, CloseButton, Group } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconMessageForward, IconMessages } from '@tabler/icons-react';
import { Link } from 'react-router';
import { isOver } from '../../run/frame';
import { activityText } from '../../run/activity';
import { conversationOf, costOf } from '../../run/instances';
import type { RunState, Task } from '../../run/state';
import { ActButton } from '../../ui/Act';
import { count, money } from '../../ui/format';
import { HeadingLevel } from '../../ui/headings';
import { Json } from '../../ui/Json';
import { Markdown } from '../../ui/Markdown';
import { StatusPill } from '../../ui/Status';
import { TaskDuration } from '../../ui/TaskDuration';
import panel from '../../ui/Panel.module.css';
import { Inject } from './Dialogs';
import { BranchFacts, Instances } from './Instances';
import { isForPeers } from '../../ui/runName';
import css from './TaskPanel.module.css';
import { t } from '../../words/t';

/** One task beside the graph: what it is, how it stands, what came of it. */
export function TaskPanel({ run, task, close }: { run: RunState; task: Task; close: () => void }) {
  const conversation = conversationOf(run, task);
  const cost = costOf(run, task);
  const group = run.groups.find(({ tasks }) => tasks.includes(task.index));
  const [injecting, inject] = useDisclosure(false);
  const reads = task.context
    .map((index) => run.tasks[index - 1]?.name)
    .filter(Boolean)
    .join(', ');
  return (
    <aside className={panel.panel} aria-label={t('Task {name}', { name: task.name })}>
      <div className={panel.head}>
        <h2>{task.name}</h2>
        <StatusPill status={task.status} />
        <CloseButton aria-label={t('Close the panel')} onClick={close} />
      </div>
      <Group gap={6}>
        <Button
          component={Link}
          to={`/runs/${run.runId}/conversation?turn=${conversation?.id ?? task.index}`}
          size="xs"
          leftSection={<IconMessages size={15} />}
        >
          {t('Conversation')}
        </Button>
        {isOver(task.status) || run.endedAt || isForPeers(run.runId) ? null : (
          <ActButton
            needs="run"
            size="xs"
            variant="default"
            leftSection={<IconMessageForward size={15} />}
            onClick={inject.open}
          >
            {t('Tell it something')}
          </ActButton>
        )}
      </Group>
      {task.description ? <p className={css.text}>{task.description}</p> : null}
      <dl className={panel.facts}>
        <dt>{t('Agent')}</dt>
        <dd>{task.role}</dd>
        {conversation && !isOver(task.status) ? (
          <>
            <dt>{t('Now')}</dt>
            <dd>{activityText(conversation)}</dd>
          </>
        ) : null}
        {task.model ? (
          <>
            <dt>{t('Model')}</dt>
            <dd>{task.model}</dd>
          </>
        ) : null}
        {task.startedAt ? (
          <>
            <dt>{t('Duration')}</dt>
            <dd>
              <TaskDuration task={task} />
            </dd>
          </>
        ) : null}
        <dt>{t('Tokens')}</dt>
        <dd>{task.tokens < 0 ? t('unknown') : count(task.tokens)}</dd>
        {cost === undefined ? null : (
          <>
            <dt>{t('Cost')}</dt>
            <dd>{money(cost)}</dd>
          </>
        )}
        <dt>{t('Tool calls')}</dt>
        <dd>{task.toolCalls}</dd>
        {conversation && conversation.tools.length > 0 ? (
          <>
            <dt>{t('Tools')}</dt>
            <dd>{conversation.tools.join(', ')}</dd>
          </>
        ) : null}
        {reads ? (
          <>
            <dt>{t('Reads')}</dt>
            <dd>{reads}</dd>
          </>
        ) : null}
        <BranchFacts task={task} group={group} />
      </dl>
      <Instances runId={run.runId} task={task} />
      {task.error ? (
        <div className={panel.section}>
          <h3>{t('Reason')}</h3>
          <p className={css.error}>{task.error}</p>
        </div>
      ) : null}
      {task.partial ? (
        <div className={panel.section}>
          <h3>{t('Partial output')}</h3>
          <Markdown text={task.partial} />
        </div>
      ) : null}
      {task.output === undefined ? null : (
        <div className={panel.section}>
          <h3>{task.isCut ? t('Output, cut at the output limit') : t('Output')}</h3>
          {task.outputEditedBy ? <p>{t('edited by {by}', { by: task.outputEditedBy })}</p> : null}
          <div className={css.output} tabIndex={0} role="region" aria-label={t('Output')}>
            <HeadingLevel value={4}>
              {task.parsed === undefined ? <Markdown text={task.output} /> : <Json value={task.parsed} openTo={4} />}
            </HeadingLevel>
          </div>
        </div>
      )}
      <Inject key={task.name} run={run} opened={injecting} close={inject.close} target={task.name} />
    </aside>
  );
}
