import { Button } from '@mantine/core';
import { givenNames } from '../../workflow/convert';
import { find, titleOf } from '../../workflow/graph';
import { AboutForm } from './AboutForm';
import { addGroup, groupOfAll, groupRefusal } from '../../workflow/groups';
import css from './Editor.module.css';
import { GroupForm } from './GroupForm';
import { RunTask } from './RunTask';
import { TaskForm } from './TaskForm';
import { useEditor } from './useEditor';
import { t } from '../../words/t';

/** The form of the selected task; of the workflow when none is selected. */
export function Selection() {
  const { store, graph, editing, issues, controls, watched, openDialog } = useEditor();
  const { selected } = editing;
  const { run } = watched;
  const task = selected.length === 1 ? find(graph, selected[0] ?? '') : undefined;
  const group = selected.length > 0 ? groupOfAll(graph, selected) : undefined;
  if (group && selected.length > 1) return <GroupForm key={group.tasks[0]} group={group} />;
  if (selected.length > 1) {
    const refusal = groupRefusal(graph, selected);
    return (
      <div className={css.form}>
        <p>
          {t('{count} tasks are chosen: {names}.', {
            count: selected.length,
            names: selected.map((id) => titleOf(graph, id)).join(', '),
          })}
        </p>
        <Button
          size="xs"
          disabled={refusal !== undefined}
          onClick={() => store.edit(t('make a group'), (old) => addGroup(old, selected))}
        >
          {t('Make them a group')}
        </Button>
        {refusal ? <p className={css.hint}>{refusal}.</p> : null}
        <Button size="xs" variant="default" onClick={() => controls.duplicate(selected)}>
          {t('Duplicate them')}
        </Button>
        <Button size="xs" variant="subtle" color="red" onClick={() => controls.removeTasks(selected)}>
          {t('Remove them')}
        </Button>
      </div>
    );
  }
  if (!task) return <AboutForm store={store} graph={graph} issues={issues} />;
  const name = givenNames(graph.tasks)[graph.tasks.indexOf(task)];
  const ran = run?.tasks.find((each) => each.name === name);
  return (
    <>
      {run && ran ? <RunTask run={run} task={ran} /> : null}
      <TaskForm
        key={task.id}
        store={store}
        graph={graph}
        task={task}
        issues={issues}
        isNew={controls.added === task.id}
        duplicate={() => controls.duplicate([task.id])}
        remove={() => controls.removeTasks([task.id])}
        link={() => controls.link(task.id)}
        tryOut={() => openDialog('task')}
      />
    </>
  );
}
