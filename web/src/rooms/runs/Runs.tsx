import { Button, Select, Skeleton, TagsInput } from '@mantine/core';
import { IconPlayerPlay, IconPlus, IconSearchOff } from '@tabler/icons-react';
import { Link, useSearchParams } from 'react-router';
import { useRuns } from '../../api/queries';
import { Empty, ProblemNote } from '../../ui/Note';
import { Card, Page } from '../../ui/Page';
import { type Filters, PAGE_SIZE, readFilters, toQuery, writeFilters } from './filters';
import css from './Runs.module.css';
import { RunTable } from './RunTable';

const STATUSES = [
  { value: '', label: 'Any status' },
  { value: 'RUNNING', label: 'Running' },
  { value: 'ACCEPTED', label: 'Queued' },
  { value: 'COMPLETED', label: 'Completed' },
  { value: 'FAILED', label: 'Failed' },
  { value: 'CANCELLED', label: 'Cancelled' },
];

export default function Runs() {
  const [params, setParams] = useSearchParams();
  const filters = readFilters(params);
  const { data, error } = useRuns(toQuery(filters));
  const change = (changed: Partial<Filters>): void => setParams(writeFilters({ ...filters, page: 1, ...changed }));
  const filtered = filters.status !== '' || filters.tags.length > 0;
  return (
    <Page
      title="Runs"
      actions={
        <Button component={Link} to="/runs/new" leftSection={<IconPlus size={16} />} size="xs">
          New run
        </Button>
      }
    >
      <div className={css.filters}>
        <Select
          aria-label="Status"
          size="xs"
          w={120}
          data={STATUSES}
          value={filters.status}
          allowDeselect={false}
          onChange={(status) => change({ status: status ?? '' })}
        />
        <TagsInput
          className={css.tagFilter}
          aria-label="Tags"
          size="xs"
          placeholder={filters.tags.length > 0 ? '' : 'Tag, as name:value'}
          value={filters.tags}
          onChange={(tags) => change({ tags })}
        />
        <span role="status">{data ? `${data.total} ${data.total === 1 ? 'run' : 'runs'}` : ''}</span>
      </div>
      {error ? <ProblemNote what="The runs could not be listed" error={error} /> : null}
      {data && data.runs.length > 0 ? (
        <Card>
          <RunTable runs={data.runs} />
        </Card>
      ) : null}
      {data?.runs.length === 0 ? <Card>{filtered ? <NoMatch clear={() => setParams({})} /> : <NoRuns />}</Card> : null}
      {!data && !error ? <Skeleton height={240} radius={10} /> : null}
      {data && data.total > PAGE_SIZE ? (
        <Pages filters={filters} total={data.total} go={(page) => change({ page })} />
      ) : null}
    </Page>
  );
}

function NoRuns() {
  return (
    <Empty icon={IconPlayerPlay} title="No runs yet">
      <p>
        A run is an ensemble at work. Start one here, with <code>consort run</code>, or by <code>POST /api/runs</code>.
      </p>
      <Button component={Link} to="/runs/new" size="xs" mt={6}>
        Start a run
      </Button>
    </Empty>
  );
}

function NoMatch({ clear }: { clear: () => void }) {
  return (
    <Empty icon={IconSearchOff} title="No run matches these filters">
      <Button variant="default" size="xs" mt={6} onClick={clear}>
        Show all runs
      </Button>
    </Empty>
  );
}

function Pages({ filters, total, go }: { filters: Filters; total: number; go: (page: number) => void }) {
  const last = Math.ceil(total / PAGE_SIZE);
  const { page } = filters;
  return (
    <nav className={css.pages} aria-label="Pages">
      <Button variant="default" size="xs" disabled={page <= 1} onClick={() => go(page - 1)}>
        Newer
      </Button>
      <span>
        Page {page} of {last}
      </span>
      <Button variant="default" size="xs" disabled={page >= last} onClick={() => go(page + 1)}>
        Older
      </Button>
    </nav>
  );
}
