import { Button } from '@mantine/core';
import { IconPlus, IconSchema } from '@tabler/icons-react';
import { useMemo } from 'react';
import { planText } from '../../chat/plans';
import type { Plan } from '../../chat/state';
import { toTasks } from '../../workflow/convert';
import { EMPTY, freeName, type Graph, titleOf } from '../../workflow/graph';
import { arranged, below } from '../../workflow/place';
import { Canvas } from './Canvas';
import css from './Editor.module.css';
import { useEditor } from './useEditor';
import { t } from '../../words/t';

/** The workflow as it is edited, or an earlier version to look at. */
export function CanvasArea() {
  const { graph, editing, issues, controls, plan, address, watched, shownVersion } = useEditor();
  const ghosts = useMemo(() => (plan && plan.tasks.length > 0 ? previewOf(plan, graph) : undefined), [plan, graph]);
  if (shownVersion) return <Canvas key={shownVersion.workflow.version} graph={shownVersion.graph} run={watched.run} />;
  return (
    <Canvas
      key="now"
      graph={graph}
      selected={editing.selected}
      touched={editing.touched}
      issues={issues}
      ghosts={ghosts}
      run={watched.run}
      linking={controls.linking}
      actions={controls.actions}
    >
      <Toolbar />
      {graph.tasks.length === 0 && !ghosts ? (
        <FirstTask add={() => controls.addTask([])} describe={() => address.set({ panel: 'chat' })} />
      ) : null}
    </Canvas>
  );
}

/** The planned tasks, where they will be. */
function previewOf({ tasks }: Plan, graph: Graph): Graph {
  const documents = tasks.map((task) => ({ ...task, description: task.description ?? '' }));
  const drawn = arranged({ ...EMPTY, tasks: toTasks(documents) });
  const placed = below(graph, drawn.tasks);
  return { ...drawn, tasks: placed.map((task) => ({ ...task, name: task.name && freeName(graph, task.name) })) };
}

function Toolbar() {
  const { graph, editing, controls, plan } = useEditor();
  return (
    <div className={css.float}>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconPlus size={15} />}
        onClick={() => controls.addTask(editing.selected)}
      >
        {editing.selected.length === 1 ? t('Add a task after it') : t('Add a task')}
      </Button>
      {controls.linking === undefined ? null : (
        <span className={css.linking} role="status">
          {t("Choose the task that reads '{task}'. Esc stops.", { task: titleOf(graph, controls.linking) })}
        </span>
      )}
      {plan ? (
        <span className={css.planning} role="status">
          {planText(plan)}
        </span>
      ) : null}
    </div>
  );
}

function FirstTask({ add, describe }: { add: () => void; describe: () => void }) {
  return (
    <div className={css.first}>
      <IconSchema size={30} stroke={1.4} aria-hidden />
      <h2>{t('An empty canvas')}</h2>
      <p>
        {t('Draw a graph of tasks. Each is done by an agent and can read the outputs of others.')}{' '}
        {t('Or say what you want, and it is drawn for you.')}
      </p>
      <div>
        <Button size="xs" onClick={describe}>
          {t('Describe it')}
        </Button>
        <Button size="xs" variant="default" onClick={add}>
          {t('Add the first task')}
        </Button>
      </div>
    </div>
  );
}
