import { Button, NumberInput, Popover, Select, Stack, TagsInput, TextInput } from '@mantine/core';
import { IconAdjustmentsHorizontal, IconSearch } from '@tabler/icons-react';
import { useCapabilities } from '../../api/queries';
import { type Filters, type Sort, SORTS } from './filters';
import css from './Runs.module.css';
import { Views } from './Views';
import { t } from '../../words/t';

const STATUSES = [
  { value: '', label: t('Any status') },
  { value: 'RUNNING', label: t('Running') },
  { value: 'WAITING', label: t('Waiting') },
  { value: 'PAUSED', label: t('Paused') },
  { value: 'ACCEPTED', label: t('Queued') },
  { value: 'COMPLETED', label: t('Completed') },
  { value: 'FAILED', label: t('Failed') },
  { value: 'CANCELLED', label: t('Cancelled') },
];

const KINDS = [
  { value: '', label: t('Own runs') },
  { value: 'peer', label: t('Work for others') },
];

const SORT_WORDS: Record<Sort, string> = {
  newest: t('Newest first'),
  oldest: t('Oldest first'),
  longest: t('Longest first'),
  tokens: t('Most tokens first'),
  cost: t('Most expensive first'),
  title: t('By title'),
};

interface FilterBarProps {
  filters: Filters;
  change: (changed: Partial<Filters>) => void;
  /** The number of runs, in words. */
  counted: string;
}

/** The filters of the list, and its order. */
export function FilterBar({ filters, change, counted }: FilterBarProps) {
  return (
    <div className={css.filters} role="search" aria-label={t('Runs')}>
      <TextInput
        className={css.textFilter}
        size="xs"
        aria-label={t('Words in a run')}
        placeholder={t('Words in inputs or outputs')}
        leftSection={<IconSearch size={14} />}
        value={filters.text}
        onChange={(event) => change({ text: event.currentTarget.value })}
      />
      <Select
        aria-label={t('Kind of runs')}
        size="xs"
        w={132}
        data={KINDS}
        value={filters.kind}
        allowDeselect={false}
        onChange={(kind) => change({ kind: kind ?? '' })}
      />
      <Select
        aria-label={t('Status')}
        size="xs"
        w={120}
        data={STATUSES}
        value={filters.status}
        allowDeselect={false}
        onChange={(status) => change({ status: status ?? '' })}
      />
      <TagsInput
        className={css.tagFilter}
        aria-label={t('Tags')}
        size="xs"
        placeholder={filters.tags.length > 0 ? '' : t('Tag, as name:value')}
        value={filters.tags}
        onChange={(tags) => change({ tags })}
      />
      <More filters={filters} change={change} />
      <Select
        aria-label={t('Order')}
        size="xs"
        w={158}
        data={SORTS.map((value) => ({ value, label: SORT_WORDS[value] }))}
        value={filters.sort}
        allowDeselect={false}
        onChange={(sort) => change({ sort: (sort ?? 'newest') as Sort })}
      />
      <Views filters={filters} />
      <span role="status">{counted}</span>
    </div>
  );
}

/** The filters that are wanted less often. */
function More({ filters, change }: Omit<FilterBarProps, 'counted'>) {
  const models = useCapabilities().data?.models ?? [];
  const { model, from, to, cost } = filters;
  const count = [model, from, to, cost].filter(Boolean).length;
  return (
    <Popover position="bottom-start" shadow="md" trapFocus>
      <Popover.Target>
        <Button
          size="xs"
          variant={count > 0 ? 'light' : 'default'}
          leftSection={<IconAdjustmentsHorizontal size={15} />}
        >
          {t('Dates, model, cost')}
          {count > 0 ? `: ${count}` : ''}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap={8} w={220}>
          <TextInput
            type="date"
            label={t('Started on or after')}
            value={from}
            onChange={(event) => change({ from: event.currentTarget.value })}
          />
          <TextInput
            type="date"
            label={t('Started on or before')}
            value={to}
            onChange={(event) => change({ to: event.currentTarget.value })}
          />
          <Select
            label={t('Model')}
            clearable
            comboboxProps={{ withinPortal: false }}
            placeholder={t('Any')}
            data={models.map(({ alias }) => alias)}
            value={model || null}
            onChange={(alias) => change({ model: alias ?? '' })}
          />
          <NumberInput
            label={t('Cost at least, in dollars')}
            min={0}
            step={0.1}
            value={cost}
            onChange={(value) => change({ cost: String(value) })}
          />
          <Button
            size="xs"
            variant="subtle"
            disabled={count === 0}
            onClick={() => change({ model: '', from: '', to: '', cost: '' })}
          >
            {t('Clear these')}
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
