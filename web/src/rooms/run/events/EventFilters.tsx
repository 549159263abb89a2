import { Button, MultiSelect, Select, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useSearchParams } from 'react-router';
import type { RunState } from '../../../run/state';
import { TYPES } from './about';
import css from './Events.module.css';
import { type EventFilter, isFiltering } from './match';
import type { Matches } from './useMatches';

/** Narrows the events down to a task, to types, and to words in them. */
export function EventFilters({ run, filter, matches }: { run: RunState; filter: EventFilter; matches: Matches }) {
  const [, setParams] = useSearchParams();
  const change = (name: string, values: string[]): void =>
    setParams(
      (old) => {
        old.delete(name);
        for (const value of values) if (value) old.append(name, value);
        return old;
      },
      { replace: true },
    );
  return (
    <div className={css.filters} role="search" aria-label="Events">
      <Select
        size="xs"
        aria-label="Task"
        placeholder="Every task"
        clearable
        searchable
        w={170}
        limit={100}
        data={run.tasks.map(({ index, name }) => ({ value: String(index), label: `${index} ${name}` }))}
        value={filter.task > 0 ? String(filter.task) : null}
        onChange={(value) => change('of', value ? [value] : [])}
      />
      <MultiSelect
        size="xs"
        className={css.types}
        aria-label="Types"
        placeholder={filter.types.length > 0 ? '' : 'Every type'}
        searchable
        clearable
        data={TYPES}
        value={filter.types}
        onChange={(values) => change('type', values)}
      />
      <TextInput
        size="xs"
        aria-label="Words in an event"
        placeholder="Words in an event"
        leftSection={<IconSearch size={14} />}
        value={filter.text}
        onChange={(event) => change('text', [event.currentTarget.value])}
      />
      <span role="status">{isFiltering(filter) ? countText(matches, run.next) : ''}</span>
      {isFiltering(filter) && !matches.isLooking && matches.looked < run.next ? (
        <Button size="compact-xs" variant="default" onClick={matches.further}>
          Look further
        </Button>
      ) : null}
    </div>
  );
}

function countText({ found, looked }: Matches, total: number): string {
  const count = `${found.length.toLocaleString('en')} found`;
  return looked < total
    ? `${count} in the first ${looked.toLocaleString('en')} of ${total.toLocaleString('en')}`
    : count;
}
