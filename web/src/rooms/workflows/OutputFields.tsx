import { Select, Textarea, TextInput } from '@mantine/core';
import { JsonField } from '../../ui/JsonField';
import type { Fields, Task } from '../../workflow/graph';
import css from './Editor.module.css';
import { t } from '../../words/t';

const REVIEWS = [
  { value: '', label: t('As the workflow says') },
  { value: 'required', label: t('A person reviews it') },
  { value: 'skip', label: t('Nobody reviews it') },
];

export interface PartProps {
  task: Task;
  set: (fields: Fields) => void;
  wrong: (field: string) => string | undefined;
}

/** The instructions of a task, and the checks of its output. */
export function OutputFields({ task, set, wrong }: PartProps) {
  return (
    <div className={css.form}>
      <Textarea
        label={t('Further knowledge')}
        autosize
        minRows={2}
        maxRows={8}
        value={task.additionalContext}
        onChange={(event) => set({ additionalContext: event.currentTarget.value })}
      />
      <Select
        label={t('Review')}
        data={REVIEWS}
        value={task.review}
        allowDeselect={false}
        onChange={(review) => set({ review: (review ?? '') as Task['review'] })}
      />
      <TextInput
        label={t('Rounds at most')}
        inputMode="numeric"
        placeholder="25"
        value={task.maxIterations}
        error={wrong('maxIterations')}
        onChange={(event) => set({ maxIterations: event.currentTarget.value.replace(/\D/g, '') })}
      />
      <JsonField
        label={t('Output schema')}
        description={t('A JSON Schema; an answer that does not fit goes back to the model')}
        placeholder={'{ "type": "object" }'}
        value={task.outputSchema}
        error={wrong('outputSchema')}
        set={(outputSchema) => set({ outputSchema })}
      />
    </div>
  );
}
