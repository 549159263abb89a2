import { Accordion, ActionIcon, Button, MultiSelect, Select, Switch, Textarea, TextInput } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import { AgentFields } from '../../ui/AgentFields';
import { ToolsField } from '../../ui/ToolsField';
import { type OwnTask, ownTask } from './draft';
import type { PartProps } from './New';
import css from './New.module.css';
import { t } from '../../words/t';

const Sketch = lazy(() => import('./Sketch'));

/** Tasks composed by hand, and the graph their links make. */
export function OwnTasks({ capabilities, draft, change }: PartProps) {
  const { tasks } = draft;
  const set = (id: number, changed: Partial<OwnTask>): void =>
    change({ tasks: tasks.map((task) => (task.id === id ? { ...task, ...changed } : task)) });
  const remove = (id: number): void =>
    change({
      tasks: tasks
        .filter((task) => task.id !== id)
        .map((task) => ({ ...task, context: task.context.filter((other) => other !== id) })),
    });
  const [added, setAdded] = useState<number>();
  const add = (): void => {
    const id = Math.max(0, ...tasks.map((task) => task.id)) + 1;
    change({ tasks: [...tasks, ownTask(id)] });
    setAdded(id);
  };
  return (
    <>
      {tasks.length > 1 ? (
        <div className={css.graph}>
          <Suspense>
            <Sketch tasks={tasks} workflow={draft.workflow} />
          </Suspense>
        </div>
      ) : null}
      {tasks.map((task, position) => (
        <TaskCard
          key={task.id}
          task={task}
          position={position}
          isNew={task.id === added}
          tasks={tasks}
          capabilities={capabilities}
          set={(changed) => set(task.id, changed)}
          remove={() => remove(task.id)}
        />
      ))}
      <Button variant="default" leftSection={<IconPlus size={16} />} onClick={add}>
        {t('Add a task')}
      </Button>
    </>
  );
}

interface TaskCardProps {
  task: OwnTask;
  position: number;
  /** Whether it was just added, so that it is written at once. */
  isNew: boolean;
  tasks: OwnTask[];
  capabilities: PartProps['capabilities'];
  set: (changed: Partial<OwnTask>) => void;
  remove: () => void;
}

export const nameOf = (task: OwnTask, position: number): string =>
  task.name || t('Task {position}', { position: position + 1 });

const isNobody = ({ role, goal, background, mayDelegate }: OwnTask): boolean =>
  !role.trim() && Boolean(goal || background || mayDelegate);

function TaskCard({ task, position, isNew, tasks, capabilities, set, remove }: TaskCardProps) {
  const others = tasks
    .map((other, at) => ({ value: String(other.id), label: nameOf(other, at) }))
    .filter(({ value }) => value !== String(task.id));
  return (
    <section className={css.card} aria-label={nameOf(task, position)}>
      <header>
        <h2>{nameOf(task, position)}</h2>
        {tasks.length > 1 ? (
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t('Remove {value}', { value: nameOf(task, position) })}
            onClick={remove}
          >
            <IconTrash size={16} />
          </ActionIcon>
        ) : null}
      </header>
      <Textarea
        label={t('Description')}
        required
        autoFocus={isNew}
        autosize
        minRows={2}
        value={task.description}
        onChange={(event) => set({ description: event.currentTarget.value })}
      />
      <div className={css.two}>
        <TextInput label={t('Name')} value={task.name} onChange={(event) => set({ name: event.currentTarget.value })} />
        <TextInput
          label={t('Expected output')}
          value={task.expectedOutput}
          onChange={(event) => set({ expectedOutput: event.currentTarget.value })}
        />
        <Select
          label={t('Model')}
          placeholder={t('The first one')}
          clearable
          data={capabilities.models.map(({ alias }) => alias)}
          value={task.model || null}
          onChange={(model) => set({ model: model ?? '' })}
        />
        <ToolsField label={t('Tools')} value={task.tools} onChange={(tools) => set({ tools })} />
        {others.length > 0 ? (
          <MultiSelect
            label={t('Reads the output of')}
            placeholder={task.context.length > 0 ? '' : t('Nothing')}
            data={others}
            value={task.context.map(String)}
            onChange={(ids) => set({ context: ids.map(Number) })}
          />
        ) : null}
      </div>
      <Accordion variant="separated" chevronPosition="left" styles={{ label: { padding: '9px 0', fontSize: 13.5 } }}>
        <Accordion.Item value="agent">
          <Accordion.Control>
            {t('Agent')} <span className={css.hint}>{task.role || t('derived from the task')}</span>
          </Accordion.Control>
          <Accordion.Panel>
            <AgentFields agent={task} error={isNobody(task) ? t('An agent needs a role') : undefined} set={set} />
          </Accordion.Panel>
        </Accordion.Item>
      </Accordion>
      <Switch
        label={t('A person reviews its output')}
        checked={task.isReviewed}
        onChange={(event) => set({ isReviewed: event.currentTarget.checked })}
      />
    </section>
  );
}
