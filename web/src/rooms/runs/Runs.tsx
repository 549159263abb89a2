import { Button, Skeleton } from '@mantine/core';
import { IconPlayerPlay, IconPlus, IconSearchOff } from '@tabler/icons-react';
import { useState } from 'react';
import { useRuns } from '../../api/queries';
import { ActLink } from '../../ui/Act';
import { Empty, ProblemNote } from '../../ui/Note';
import { Card, Page } from '../../ui/Page';
import { useNow } from '../../ui/useNow';
import { useParamsInAddress } from '../../ui/useParamsInAddress';
import { Bulk } from './Bulk';
import { FilterBar } from './FilterBar';
import {
  chosen,
  type Filters,
  isFiltered,
  isLocal,
  LOOKED_THROUGH,
  NO_FILTERS,
  PAGE_SIZE,
  readFilters,
  toQuery,
  writeFilters,
} from './filters';
import css from './Runs.module.css';
import { RunTable } from './RunTable';
import { plural, t } from '../../words/t';
import { Said } from '../../words/Said';

const NONE: ReadonlySet<string> = new Set();

export default function Runs() {
  const [params, changeParams] = useParamsInAddress();
  const filters = readFilters(params);
  const { data, error } = useRuns(toQuery(filters));
  const [ids, setIds] = useState(NONE);
  const now = useNow();
  const change = (changed: Partial<Filters>): void => {
    // A word is typed letter by letter; going back should not take it away letter by letter.
    changeParams(writeFilters({ page: 1, ...changed }), 'text' in changed ? 'replace' : 'push');
  };
  const found = data && isLocal(filters) ? chosen(data.runs, filters, now) : undefined;
  const total = found?.length ?? data?.total ?? 0;
  const runs = found ? found.slice((filters.page - 1) * PAGE_SIZE, filters.page * PAGE_SIZE) : (data?.runs ?? []);
  const counted = plural(total, '{n} run', '{n} runs');
  const isCut = found !== undefined && data !== undefined && data.total > data.runs.length;
  return (
    <Page
      title={t('Runs')}
      actions={
        <ActLink needs="run" to="/runs/new" leftSection={<IconPlus size={16} />} size="xs">
          {t('New run')}
        </ActLink>
      }
    >
      <FilterBar
        filters={filters}
        change={change}
        counted={
          data ? (isCut ? t('{counted} among the newest {count}', { counted, count: LOOKED_THROUGH }) : counted) : ''
        }
      />
      <Bulk selected={(data?.runs ?? []).filter(({ runId }) => ids.has(runId))} clear={() => setIds(NONE)} />
      {error ? <ProblemNote what={t('The runs could not be listed')} error={error} /> : null}
      {runs.length > 0 ? (
        <Card>
          <RunTable runs={runs} selection={{ ids, set: setIds }} />
        </Card>
      ) : null}
      {data && runs.length === 0 ? (
        <Card>{isFiltered(filters) ? <NoMatch clear={() => change(NO_FILTERS)} /> : <NoRuns />}</Card>
      ) : null}
      {!data && !error ? <Skeleton height={240} radius={10} /> : null}
      {data && total > PAGE_SIZE ? <Pages filters={filters} total={total} go={(page) => change({ page })} /> : null}
    </Page>
  );
}

function NoRuns() {
  return (
    <Empty icon={IconPlayerPlay} title={t('No runs yet')}>
      <p>
        <Said
          of="A run is an ensemble at work. Start one here, with {code}, or by {code2}."
          code={<code>consort run</code>}
          code2={<code>POST /api/runs</code>}
        />
      </p>
      <ActLink needs="run" to="/runs/new" size="xs" mt={6}>
        {t('Start a run')}
      </ActLink>
    </Empty>
  );
}

function NoMatch({ clear }: { clear: () => void }) {
  return (
    <Empty icon={IconSearchOff} title={t('No run matches these filters')}>
      <Button variant="default" size="xs" mt={6} onClick={clear}>
        {t('Show all runs')}
      </Button>
    </Empty>
  );
}

function Pages({ filters, total, go }: { filters: Filters; total: number; go: (page: number) => void }) {
  const last = Math.ceil(total / PAGE_SIZE);
  const { page } = filters;
  return (
    <nav className={css.pages} aria-label={t('Pages')}>
      <Button variant="default" size="xs" disabled={page <= 1} onClick={() => go(page - 1)}>
        {t('Newer')}
      </Button>
      <span>{t('Page {page} of {last}', { page, last })}</span>
      <Button variant="default" size="xs" disabled={page >= last} onClick={() => go(page + 1)}>
        {t('Older')}
      </Button>
    </nav>
  );
}
