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
import type { Trouble } from '../../workflow/check';
import { type Graph, titleOf } from '../../workflow/graph';
import type { Editing, EditorStore } from '../../workflow/store';
import css from './Editor.module.css';

interface BarProps {
  store: EditorStore;
  editing: Editing;
  troubles: readonly Trouble[];
  isSaving: boolean;
  isStarting: boolean;
  save: () => void;
  run: () => void;
  show: (trouble: Trouble) => void;
  tidy: () => void;
  copy: () => void;
  download: () => void;
  keys: () => void;
  erase: (() => void) | undefined;
}

/** What the workflow is called, how it stands, and what can be done with it. */
export function Bar(props: BarProps) {
  const { store, editing, troubles, isSaving, isStarting, save, run, show } = props;
  const { history, base, isDirty } = editing;
  const graph = history.present;
  const standing =
    base === undefined ? 'Not saved yet' : isDirty ? `Version ${base.version}, changed` : `Version ${base.version}`;
  const undone = history.past.at(-1)?.label;
  const redone = history.future[0]?.label;
  return (
    <header className={css.bar}>
      <div className={css.crumbs}>
        <Link to="/workflows">Workflows</Link>
        <span aria-hidden>/</span>
        <h1 className="visually-hidden">{graph.name || 'New workflow'}</h1>
        <input
          className={css.title}
          aria-label="Name of the workflow"
          aria-invalid={troubles.some(({ field, task }) => task === undefined && field === 'name')}
          placeholder="Name the workflow"
          maxLength={200}
          value={graph.name}
          onChange={(event) =>
            store.edit('rename the workflow', (old) => ({ ...old, name: event.currentTarget.value }), 'about.name')
          }
        />
        <span className={css.standing} data-dirty={isDirty || undefined} role="status">
          {standing}
        </span>
      </div>
      <div className={css.tools}>
        <Troubles graph={graph} troubles={troubles} show={show} />
        <Tooltip label={undone ? `Undo: ${undone}` : 'Nothing to undo'}>
          <ActionIcon
            variant="default"
            size={30}
            aria-label={undone ? `Undo ${undone}` : 'Undo'}
            disabled={!undone}
            onClick={() => store.undo()}
          >
            <IconArrowBackUp size={17} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={redone ? `Redo: ${redone}` : 'Nothing to redo'}>
          <ActionIcon
            variant="default"
            size={30}
            aria-label={redone ? `Redo ${redone}` : 'Redo'}
            disabled={!redone}
            onClick={() => store.redo()}
          >
            <IconArrowForwardUp size={17} />
          </ActionIcon>
        </Tooltip>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconPlayerPlay size={15} />}
          loading={isStarting}
          onClick={run}
        >
          {isDirty && graph.tasks.length > 0 ? 'Save and run' : 'Run'}
        </Button>
        <Button
          size="xs"
          leftSection={<IconDeviceFloppy size={15} />}
          loading={isSaving}
          disabled={base !== undefined && !isDirty}
          onClick={save}
        >
          Save
        </Button>
        <More {...props} />
      </div>
    </header>
  );
}

function Troubles({ graph, troubles, show }: Pick<BarProps, 'troubles' | 'show'> & { graph: Graph }) {
  if (graph.tasks.length === 0) return null;
  if (troubles.length === 0)
    return (
      <span className={css.fine} role="status">
        <IconCircleCheck size={15} aria-hidden /> No mistakes
      </span>
    );
  return (
    <Menu>
      <Menu.Target>
        <Button size="xs" variant="light" color="red" leftSection={<IconAlertTriangle size={15} />}>
          {troubles.length} {troubles.length === 1 ? 'mistake' : 'mistakes'}
        </Button>
      </Menu.Target>
      <Menu.Dropdown className={css.mistakes}>
        {troubles.map((trouble) => (
          <Menu.Item key={`${trouble.task}${trouble.field}${trouble.message}`} onClick={() => show(trouble)}>
            <strong>{trouble.task ? titleOf(graph, trouble.task) : 'The workflow'}</strong>
            <br />
            {trouble.message}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function More({ tidy, copy, download, keys, erase, editing }: BarProps) {
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon variant="default" size={30} aria-label="More about this workflow">
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={<IconLayoutDistributeHorizontal size={15} />}
          disabled={editing.history.present.tasks.length === 0}
          onClick={tidy}
        >
          Tidy up the canvas
        </Menu.Item>
        <Menu.Item
          leftSection={<IconCopyPlus size={15} />}
          disabled={editing.history.present.tasks.length === 0}
          onClick={copy}
        >
          Save as a new workflow
        </Menu.Item>
        <Menu.Item leftSection={<IconDownload size={15} />} onClick={download}>
          Download as JSON
        </Menu.Item>
        <Menu.Item leftSection={<IconKeyboard size={15} />} onClick={keys}>
          Keys
        </Menu.Item>
        {erase ? (
          <Menu.Item color="red" leftSection={<IconTrash size={15} />} onClick={erase}>
            Delete the workflow
          </Menu.Item>
        ) : null}
      </Menu.Dropdown>
    </Menu>
  );
}
