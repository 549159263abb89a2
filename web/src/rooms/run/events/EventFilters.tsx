import { Button, MultiSelect, Select, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import type { RunState } from '../../../run/state';
import { useParamsInAddress } from '../../../ui/useParamsInAddress';
import { TYPES } from './about';
import css from './Events.module.css';
import { type EventFilter, isFiltering } from './match';
import type { Matches } from './useMatches';
import { number, t } from '../../../words/t';

/** Narrows the events down to a task, to types, and to words in them. */
export function EventFilters({ run, filter, matches }: { run: RunState; filter: EventFilter; matches: Matches }) {
  const [, change] = useParamsInAddress();
  return (
    <div className={css.filters} role="search" aria-label={t('Events')}>
      <Select
        size="xs"
        aria-label={t('Task')}
        placeholder={t('Every task')}
        clearable
        searchable
        w={170}
        limit={100}
        data={run.tasks.map(({ index, name }) => ({ value: String(index), label: `${index} ${name}` }))}
        value={filter.task > 0 ? String(filter.task) : null}
        onChange={(value) => change({ of: value ?? undefined })}
      />
      <MultiSelect
        size="xs"
        className={css.types}
        aria-label={t('Types')}
        placeholder={filter.types.length > 0 ? '' : t('All types')}
        searchable
        clearable
        data={TYPES}
        value={filter.types}
        onChange={(values) => change({ type: values })}
      />
      <TextInput
        size="xs"
        aria-label={t('Words in an event')}
        placeholder={t('Words in an event')}
        leftSection={<IconSearch size={14} />}
        value={filter.text}
        onChange={(event) => change({ text: event.currentTarget.value || undefined })}
      />
      <span role="status">{isFiltering(filter) ? countText(matches, run.next) : ''}</span>
      {isFiltering(filter) && !matches.isLooking && matches.looked < run.next ? (
        <Button size="compact-xs" variant="default" onClick={matches.further}>
          {t('Search more events')}
        </Button>
      ) : null}
    </div>
  );
}

function countText({ found, looked }: Matches, total: number): string {
  const count = t('{count} found', { count: number(found.length) });
  return looked < total
    ? t('{found} in the first {looked} of {total}', { found: count, looked: number(looked), total: number(total) })
    : count;
}
