import { Select, TagsInput } from '@mantine/core';
import type { Draft } from './draft';
import type { PartProps } from './New';
import css from './New.module.css';

const ANY = { value: '', label: 'As configured' };
const WORKFLOWS = [
  ANY,
  { value: 'SEQUENTIAL', label: 'One after another' },
  { value: 'PARALLEL', label: 'As soon as they can' },
  { value: 'HIERARCHICAL', label: 'Handed out by a manager' },
];
const POLICIES = [
  ANY,
  { value: 'NEVER', label: 'No reviews' },
  { value: 'AFTER_EVERY_TASK', label: 'After every task' },
  { value: 'AFTER_LAST_TASK', label: 'After the last task' },
];
const CAPTURES = [
  ANY,
  { value: 'OFF', label: 'Off' },
  { value: 'STANDARD', label: 'Standard' },
  { value: 'FULL', label: 'Full' },
];

export function Options({ draft, change }: Omit<PartProps, 'capabilities'>) {
  return (
    <section className={css.card}>
      <header>
        <h2>Tags and options</h2>
      </header>
      <TagsInput
        label="Tags"
        placeholder="name:value, then Enter"
        value={draft.tags}
        onChange={(tags) => change({ tags })}
      />
      <div className={css.two}>
        <Select
          label="Order of tasks"
          data={WORKFLOWS}
          value={draft.workflow}
          allowDeselect={false}
          onChange={(value) => change({ workflow: (value ?? '') as Draft['workflow'] })}
        />
        <Select
          label="Reviews"
          data={POLICIES}
          value={draft.reviewPolicy}
          allowDeselect={false}
          onChange={(value) => change({ reviewPolicy: (value ?? '') as Draft['reviewPolicy'] })}
        />
        <Select
          label="Trace"
          data={CAPTURES}
          value={draft.captureMode}
          allowDeselect={false}
          onChange={(value) => change({ captureMode: (value ?? '') as Draft['captureMode'] })}
        />
      </div>
    </section>
  );
}
