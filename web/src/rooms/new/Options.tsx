import { Select, TagsInput } from '@mantine/core';
import type { Draft } from './draft';
import type { PartProps } from './New';
import css from './New.module.css';
import { t } from '../../words/t';

const ANY = { value: '', label: t('As configured') };
const WORKFLOWS = [
  ANY,
  { value: 'SEQUENTIAL', label: t('One after another') },
  { value: 'PARALLEL', label: t('As soon as they are ready') },
  { value: 'HIERARCHICAL', label: t('Handed out by a manager') },
];
const POLICIES = [
  ANY,
  { value: 'NEVER', label: t('No reviews') },
  { value: 'AFTER_EVERY_TASK', label: t('After every task') },
  { value: 'AFTER_LAST_TASK', label: t('After the last task') },
];
const CAPTURES = [
  ANY,
  { value: 'OFF', label: t('Off') },
  { value: 'STANDARD', label: t('Standard') },
  { value: 'FULL', label: t('Full') },
];

export function Options({ draft, change }: Omit<PartProps, 'capabilities'>) {
  return (
    <section className={css.card}>
      <header>
        <h2>{t('Tags and options')}</h2>
      </header>
      <TagsInput
        label={t('Tags')}
        placeholder={t('name:value, then Enter')}
        value={draft.tags}
        onChange={(tags) => change({ tags })}
      />
      <div className={css.two}>
        <Select
          label={t('Order of tasks')}
          data={WORKFLOWS}
          value={draft.workflow}
          allowDeselect={false}
          onChange={(value) => change({ workflow: (value ?? '') as Draft['workflow'] })}
        />
        <Select
          label={t('Reviews')}
          data={POLICIES}
          value={draft.reviewPolicy}
          allowDeselect={false}
          onChange={(value) => change({ reviewPolicy: (value ?? '') as Draft['reviewPolicy'] })}
        />
        <Select
          label={t('Trace')}
          data={CAPTURES}
          value={draft.captureMode}
          allowDeselect={false}
          onChange={(value) => change({ captureMode: (value ?? '') as Draft['captureMode'] })}
        />
      </div>
    </section>
  );
}
