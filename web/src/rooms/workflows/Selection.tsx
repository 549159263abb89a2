import { Button } from '@mantine/core';
import { givenNames } from '../../workflow/convert';
import { find, titleOf } from '../../workflow/graph';
import { AboutForm } from './AboutForm';
import css from './Editor.module.css';
import { RunTask } from './RunTask';
import { TaskForm } from './TaskForm';
import { useEditor } from './useEditor';

/** The form of the selected task; of the workflow when none is selected. */
export function Selection() {
  const { store, graph, editing, issues, controls, watched } = useEditor();
  const { selected } = editing;
  const { run } = watched;
  const task = selected.length === 1 ? find(graph, selected[0] ?? '') : undefined;
  if (selected.length > 1) {
    return (
      <div className={css.form}>
        <p>
          {selected.length} tasks are chosen: {selected.map((id) => titleOf(graph, id)).join(', ')}.
        </p>
        <Button size="xs" variant="default" onClick={() => controls.duplicate(selected)}>
          Duplicate them
        </Button>
        <Button size="xs" variant="subtle" color="red" onClick={() => controls.removeTasks(selected)}>
          Remove them
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
      />
    </>
  );
}
