import { Select, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useCapabilities } from '../../api/queries';
import type { RunDetail, TaskOverride } from '../../api/types';
import { TaskSelect } from './TaskSelect';
import { t } from '../../words/t';

interface TaskChangeProps {
  detail: RunDetail;
  overrides: Record<string, TaskOverride>;
  change: (overrides: Record<string, TaskOverride>) => void;
}

/** Another prompt or model for a task that the new run has yet to begin. */
export function TaskChange({ detail, overrides, change }: TaskChangeProps) {
  const models = useCapabilities().data?.models ?? [];
  const [name, setName] = useState<string | null>(null);
  const task = detail.tasks.find((each) => each.name === name);
  const override = overrides[name ?? ''] ?? {};
  const set = (changed: TaskOverride): void => {
    const fields = Object.entries({ ...override, ...changed }).filter(([, value]) => value !== null);
    const { [name ?? '']: _old, ...others } = overrides;
    change(fields.length > 0 ? { ...others, [name ?? '']: Object.fromEntries(fields) } : others);
  };
  const changed = Object.keys(overrides);
  return (
    <>
      <TaskSelect
        label={t('Change a task')}
        description={
          changed.length > 0
            ? t('Changed: {names}', { names: changed.join(', ') })
            : t('A task that the new run has not begun')
        }
        tasks={detail.tasks}
        name={name}
        choose={setName}
      />
      {task ? (
        <>
          <Textarea
            label={t('Description')}
            autosize
            minRows={2}
            maxRows={12}
            value={override.description ?? task.description}
            onChange={(event) => set({ description: event.currentTarget.value })}
          />
          <Select
            label={t('Model of {name}', { name: task.name })}
            placeholder={task.model ?? detail.model}
            clearable
            data={models.map(({ alias }) => alias)}
            value={override.model ?? null}
            onChange={(value) => set({ model: value })}
          />
          <TextInput
            label={t('Rounds at most')}
            placeholder={t('As configured')}
            inputMode="numeric"
            value={override.maxIterations ?? ''}
            onChange={(event) => set({ maxIterations: Number(event.currentTarget.value.replace(/\D/g, '')) || null })}
          />
        </>
      ) : null}
    </>
  );
}
