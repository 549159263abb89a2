import { ActionIcon, Button, CopyButton, Group, SegmentedControl, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconCheck, IconCopy, IconFileOff, IconGitFork } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router';
import type { RunDetail } from '../../../api/types';
import type { Task } from '../../../run/state';
import { ActIcon } from '../../../ui/Act';
import { count } from '../../../ui/format';
import { Json } from '../../../ui/Json';
import { Markdown } from '../../../ui/Markdown';
import { Empty } from '../../../ui/Note';
import { StatusPill } from '../../../ui/Status';
import { TaskDuration } from '../../../ui/TaskDuration';
import { isForPeers } from '../../../ui/runName';
import { RepeatDialog } from '../RepeatDialog';
import type { TabProps } from '../Run';
import css from './Outputs.module.css';
import { t } from '../../../words/t';

/** Outputs shown before more are asked for: they can be long, and there can be thousands. */
const SHOWN = 25;

/** The outputs of the tasks, the last one first. */
export default function Outputs({ run, detail }: TabProps) {
  const [shown, setShown] = useState(SHOWN);
  const over = run.tasks
    .filter((task) => task.output !== undefined || (task.error !== undefined && task.endedAt))
    .toSorted((one, other) => (other.endedAt ?? '').localeCompare(one.endedAt ?? ''));
  if (over.length === 0) {
    return (
      <Empty icon={IconFileOff} title={t('No outputs yet')}>
        <p>
          {run.endedAt
            ? t('No task of this run finished.')
            : t('A task shows its output here as soon as it has finished.')}
        </p>
      </Empty>
    );
  }
  return (
    <div className={css.list} tabIndex={0} role="region" aria-label={t('Outputs')}>
      <div className={css.inner}>
        {over.slice(0, shown).map((task) => (
          <Output key={task.index} detail={detail} task={task} />
        ))}
        {over.length > shown ? (
          <Button variant="default" onClick={() => setShown(shown + SHOWN)}>
            {t('{value} more', { value: over.length - shown })}
          </Button>
        ) : null}
      </div>
    </div>
  );
}

const VIEWS = { tree: t('Tree'), rendered: t('Rendered'), raw: t('Raw') };

function Output({ detail, task }: { detail: RunDetail; task: Task }) {
  const [forking, fork] = useDisclosure(false);
  const [view, setView] = useState(task.parsed === undefined ? 'rendered' : 'tree');
  const views = [...(task.parsed === undefined ? [] : (['tree'] as const)), 'rendered', 'raw'] as const;
  return (
    <article className={css.card}>
      <header className={css.head}>
        <h2>
          <Link to={`/runs/${detail.runId}/conversation?turn=${task.index}`}>{task.name}</Link>
        </h2>
        {task.status === 'COMPLETED' ? null : <StatusPill status={task.status} />}
        <small>
          {task.model} · {t('{value} tokens', { value: count(task.tokens) })}
          {task.startedAt ? (
            <>
              {' '}
              · <TaskDuration task={task} />
            </>
          ) : null}
          {task.outputEditedBy ? <> · {t('edited by {by}', { by: task.outputEditedBy })}</> : null}
        </small>
        {task.output === undefined ? null : (
          <Group gap={6}>
            <SegmentedControl
              size="xs"
              aria-label={t('Format')}
              data={views.map((value) => ({ value, label: VIEWS[value] }))}
              value={view}
              onChange={setView}
            />
            <CopyButton value={task.output}>
              {({ copied, copy }) => (
                <Tooltip label={copied ? t('Copied') : t('Copy the output')}>
                  <ActionIcon variant="default" aria-label={t('Copy the output')} onClick={copy}>
                    {copied ? <IconCheck size={15} /> : <IconCopy size={15} />}
                  </ActionIcon>
                </Tooltip>
              )}
            </CopyButton>
            {isForPeers(detail.runId) ? null : (
              <ActIcon
                needs="run"
                variant="default"
                aria-label={t('Fork with another output')}
                title={t('Fork with another output')}
                onClick={fork.open}
              >
                <IconGitFork size={15} />
              </ActIcon>
            )}
          </Group>
        )}
      </header>
      <div className={css.body}>
        {task.output === undefined ? (
          <p className={css.error}>{task.error}</p>
        ) : (
          <Shown view={view} task={task} output={task.output} />
        )}
        {task.isCut ? <p className={css.error}>{t('Cut at the output limit.')}</p> : null}
        {task.partial ? (
          <>
            <p>{t('Partial output:')}</p>
            <Markdown text={task.partial} />
          </>
        ) : null}
      </div>
      {forking ? <RepeatDialog detail={detail} kind="fork" editing={task.name} opened close={fork.close} /> : null}
    </article>
  );
}

function Shown({ view, task, output }: { view: string; task: Task; output: string }) {
  if (view === 'tree') return <Json value={task.parsed} openTo={4} />;
  return view === 'raw' ? <pre>{output}</pre> : <Markdown text={output} />;
}
