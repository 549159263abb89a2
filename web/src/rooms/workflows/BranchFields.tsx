import { Group as Row, Textarea, TextInput } from '@mantine/core';
import type { Task } from '../../workflow/graph';
import css from './Editor.module.css';
import { t } from '../../words/t';

export type Branching = Pick<Task, 'when' | 'forEach' | 'maxItems' | 'maxParallel'>;

const MONO = { input: { fontFamily: 'var(--mono)', fontSize: 12.5 } };

interface ExpressionProps {
  label: string;
  description: string;
  placeholder: string;
  value: string;
  error: string | undefined;
  onChange: (value: string) => void;
}

/** An expression in CEL. */
export function Expression({ onChange, ...props }: ExpressionProps) {
  return (
    <Textarea
      {...props}
      autosize
      minRows={1}
      maxRows={5}
      styles={MONO}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

interface CountProps {
  label: string;
  placeholder: string;
  value: string;
  error: string | undefined;
  onChange: (value: string) => void;
}

export function Count({ onChange, ...props }: CountProps) {
  return (
    <TextInput
      {...props}
      inputMode="numeric"
      flex={1}
      onChange={(event) => onChange(event.currentTarget.value.replace(/\D/g, ''))}
    />
  );
}

interface BranchProps {
  of: Branching;
  set: (fields: Partial<Branching>) => void;
  wrong: (field: string) => string | undefined;
  /** The part that is skipped or repeated: the task, or the group. */
  what: 'task' | 'group';
}

/** Whether a task or a group is done at all, and for which items. */
export function BranchFields({ of, set, wrong, what }: BranchProps) {
  return (
    <div className={css.form}>
      <Expression
        label={t('Only when')}
        description={t(
          what === 'task'
            ? 'A condition in CEL over outputs and inputs; where it is false, the task is skipped'
            : 'A condition in CEL over outputs and inputs; where it is false, the group is skipped',
        )}
        placeholder="outputs.triage.kind == 'bug'"
        value={of.when}
        error={wrong('when')}
        onChange={(when) => set({ when })}
      />
      <Expression
        label={t('For each item of')}
        description={t(
          what === 'task'
            ? 'A list in CEL; the task is done once for each, with {item} and {index} in its texts'
            : 'A list in CEL; the group is done once for each, with {item} and {index} in its texts',
          { item: '{item}', index: '{index}' },
        )}
        placeholder="outputs.plan.items"
        value={of.forEach}
        error={wrong('forEach')}
        onChange={(forEach) => set({ forEach })}
      />
      {of.forEach.trim() ? (
        <Row gap={10} align="flex-start">
          <Count
            label={t('Items at most')}
            placeholder="100"
            value={of.maxItems}
            error={wrong('maxItems')}
            onChange={(maxItems) => set({ maxItems })}
          />
          <Count
            label={t('At the same time')}
            placeholder="8"
            value={of.maxParallel}
            error={wrong('maxParallel')}
            onChange={(maxParallel) => set({ maxParallel })}
          />
        </Row>
      ) : null}
    </div>
  );
}
