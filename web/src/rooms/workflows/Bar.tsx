import { ActionIcon, Button, Menu, Tooltip } from '@mantine/core';
import {
  IconAlertTriangle,
  IconArrowBackUp,
  IconArrowForwardUp,
  IconCircleCheck,
  IconCopyPlus,
  IconDeviceFloppy,
  IconDots,
  IconDownload,
  IconKeyboard,
  IconLayoutDistributeHorizontal,
  IconPlayerPlay,
  IconTrash,
} from '@tabler/icons-react';
import { Link } from 'react-router';
import { saveAs } from '../../api/client';
import { toDocument } from '../../workflow/convert';
import { ActButton, ActItem } from '../../ui/Act';
import { type Graph, titleOf } from '../../workflow/graph';
import css from './Editor.module.css';
import { useEditor } from './useEditor';
import { plural, t } from '../../words/t';

/** The name of the workflow, its version, and everything that can be done with it. */
export function Bar() {
  const { store, editing, issues, saving, actions, save, run } = useEditor();
  const { history, base, isDirty } = editing;
  const graph = history.present;
  const version =
    base === undefined
      ? isDirty
        ? t('Draft, not saved yet')
        : t('Not saved yet')
      : isDirty
        ? t('Draft of version {version}', { version: base.version })
        : t('Version {version}', { version: base.version });
  const undone = history.past.at(-1)?.label;
  const redone = history.future[0]?.label;
  return (
    <header className={css.bar}>
      <div className={css.crumbs}>
        <Link to="/workflows">{t('Workflows')}</Link>
        <span aria-hidden>/</span>
        <h1 className="visually-hidden">{graph.name || t('New workflow')}</h1>
        <input
          className={css.title}
          aria-label={t('Name of the workflow')}
          aria-invalid={issues.some(({ field, task }) => task === undefined && field === 'name')}
          placeholder={t('Name the workflow')}
          maxLength={200}
          value={graph.name}
          onChange={(event) =>
            store.edit(t('rename the workflow'), (old) => ({ ...old, name: event.currentTarget.value }), 'about.name')
          }
        />
        <span className={css.version} data-dirty={isDirty || undefined} role="status">
          {version}
        </span>
      </div>
      <div className={css.tools}>
        <Issues />
        <Tooltip label={undone ? t('Undo: {undone}', { undone }) : t('Nothing to undo')}>
          <ActionIcon
            variant="default"
            size={30}
            aria-label={undone ? t('Undo {undone}', { undone }) : t('Undo')}
            disabled={!undone}
            onClick={() => store.undo()}
          >
            <IconArrowBackUp size={17} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={redone ? t('Redo: {redone}', { redone }) : t('Nothing to redo')}>
          <ActionIcon
            variant="default"
            size={30}
            aria-label={redone ? t('Redo {redone}', { redone }) : t('Redo')}
            disabled={!redone}
            onClick={() => store.redo()}
          >
            <IconArrowForwardUp size={17} />
          </ActionIcon>
        </Tooltip>
        <ActButton
          needs="run"
          size="xs"
          variant="default"
          leftSection={<IconPlayerPlay size={15} />}
          loading={actions.start.isPending}
          onClick={run}
        >
          {isDirty && graph.tasks.length > 0 ? t('Save and run') : t('Run|verb')}
        </ActButton>
        <ActButton
          needs="run"
          size="xs"
          leftSection={<IconDeviceFloppy size={15} />}
          loading={saving.isSaving}
          disabled={base !== undefined && !isDirty}
          onClick={save}
        >
          {t('Save')}
        </ActButton>
        <More />
      </div>
    </header>
  );
}

function Issues() {
  const { graph, issues, show } = useEditor();
  if (graph.tasks.length === 0) return null;
  if (issues.length === 0)
    return (
      <span className={css.fine} role="status">
        <IconCircleCheck size={15} aria-hidden /> {t('No mistakes')}
      </span>
    );
  return (
    <Menu>
      <Menu.Target>
        <Button size="xs" variant="light" color="red" leftSection={<IconAlertTriangle size={15} />}>
          {plural(issues.length, '{n} mistake', '{n} mistakes')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown className={css.mistakes}>
        {issues.map((issue) => (
          <Menu.Item key={`${issue.task}${issue.field}${issue.message}`} onClick={() => show(issue)}>
            <strong>{issue.task ? titleOf(graph, issue.task) : t('The workflow')}</strong>
            <br />
            {issue.message}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function More() {
  const { id, graph, controls, actions, openDialog } = useEditor();
  const isEmpty = graph.tasks.length === 0;
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon variant="default" size={30} aria-label={t('More about this workflow')}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={<IconLayoutDistributeHorizontal size={15} />}
          disabled={isEmpty}
          onClick={controls.tidy}
        >
          {t('Tidy up the canvas')}
        </Menu.Item>
        <Menu.Item leftSection={<IconCopyPlus size={15} />} disabled={isEmpty} onClick={() => actions.copy.mutate()}>
          {t('Save as a new workflow')}
        </Menu.Item>
        <Menu.Item leftSection={<IconDownload size={15} />} onClick={() => download(graph)}>
          {t('Download as JSON')}
        </Menu.Item>
        <Menu.Item leftSection={<IconKeyboard size={15} />} onClick={() => openDialog('keys')}>
          {t('Keys')}
        </Menu.Item>
        {id === undefined ? null : (
          <ActItem needs="run" color="red" leftSection={<IconTrash size={15} />} onClick={() => openDialog('delete')}>
            {t('Delete the workflow')}
          </ActItem>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

function download(graph: Graph): void {
  const blob = new Blob([JSON.stringify(toDocument(graph), null, 2)], { type: 'application/json' });
  saveAs(blob, `${graph.name || 'workflow'}.json`);
}
