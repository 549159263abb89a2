import { Textarea } from '@mantine/core';
import { useState } from 'react';
import type { RunDetail } from '../../api/types';
import { Diff } from '../../ui/Diff';
import { TaskSelect } from './TaskSelect';
import { t } from '../../words/t';

interface OutputChangeProps {
  detail: RunDetail;
  /** The outputs that differ from those the tasks have, by the names of the tasks. */
  outputs: Record<string, string>;
  change: (outputs: Record<string, string>) => void;
  /** The task that is chosen at first. */
  first: string | undefined;
}

/** Another output of a task that the new run keeps. */
export function OutputChange({ detail, outputs, change, first }: OutputChangeProps) {
  const done = detail.tasks.filter(({ status, output }) => status === 'COMPLETED' && output !== undefined);
  const [name, setName] = useState<string | null>(first ?? null);
  const task = done.find((each) => each.name === name);
  const before = task?.output ?? '';
  const text = outputs[name ?? ''] ?? before;
  const set = (typed: string): void => {
    const { [name ?? '']: _old, ...others } = outputs;
    // A text that was emptied is no wish for an empty one.
    change(typed === before || typed.trim() === '' ? others : { ...others, [name ?? '']: typed });
  };
  const changed = Object.keys(outputs);
  if (done.length === 0) return null;
  return (
    <>
      <TaskSelect
        label={t('Edit an output')}
        description={
          changed.length > 0
            ? t('Edited: {names}', { names: changed.join(', ') })
            : t('The tasks that read it go on with the edited one')
        }
        tasks={done}
        name={name}
        choose={setName}
      />
      {task ? (
        <>
          <Textarea
            key={task.name}
            label={t('Edited output of {name}', { name: task.name })}
            autosize
            minRows={3}
            maxRows={16}
            data-autofocus={first === task.name || undefined}
            defaultValue={text}
            onChange={(event) => set(event.currentTarget.value)}
          />
          <Diff before={before} after={text} />
        </>
      ) : null}
    </>
  );
}
