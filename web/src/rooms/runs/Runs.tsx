import { Button, Skeleton } from '@mantine/core';
import { IconPlayerPlay, IconPlus, IconSearchOff, IconTopologyStar3 } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { Link } from 'react-router';
import { useAllRuns, useRuns } from '../../api/queries';
import type { RunRow } from '../../api/types';
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
  NO_FILTERS,
  PAGE_SIZE,
  readFilters,
  toQuery,
  wantsAll,
  writeFilters,
} from './filters';
import css from './Runs.module.css';
import { RunTable } from './RunTable';
import { plural, t } from '../../words/t';
import { Said } from '../../words/Said';

/** Requests after which a person is asked whether to go on; the server looks at thousands of runs for each. */
const REQUESTS = 10;
const NONE: ReadonlySet<string> = new Set();

export default function Runs() {
  const [params, changeParams] = useParamsInAddress();
  const filters = readFilters(params);
  const { runs, listed, total, isCut, error, goOn, isGoingOn } = useListed(filters);
  const [ids, setIds] = useState(NONE);
  const change = (changed: Partial<Filters>): void => {
    // A word is typed letter by letter; going back should not take it away letter by letter.
    changeParams(writeFilters({ page: 1, ...changed }), 'text' in changed ? 'replace' : 'push');
  };
  const counted = plural(total, '{n} run', '{n} runs');
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
        counted={runs ? (isCut ? t('{counted} so far', { counted }) : counted) : ''}
      />
      <Bulk selected={listed.filter(({ runId }) => ids.has(runId))} clear={() => setIds(NONE)} />
      {error ? <ProblemNote what={t('The runs could not be listed')} error={error} /> : null}
      {runs && runs.length > 0 ? (
        <Card>
          <RunTable runs={runs} {...(filters.kind === 'peer' ? {} : { selection: { ids, set: setIds } })} />
        </Card>
      ) : null}
      {runs?.length === 0 ? <Card>{nothing(filters, () => change({ ...NO_FILTERS, kind: filters.kind }))}</Card> : null}
      {!runs && !error ? <Skeleton height={240} radius={10} /> : null}
      {isCut ? <GoOn goOn={goOn} isGoingOn={isGoingOn} /> : null}
      {total > PAGE_SIZE ? <Pages filters={filters} total={total} go={(page) => change({ page })} /> : null}
    </Page>
  );
}

interface Listed {
  /** The runs of this page; nothing until they are known. */
  runs: RunRow[] | undefined;
  /** Those that may be selected. */
  listed: RunRow[];
  total: number;
  /** Whether there are runs that were not looked at. */
  isCut: boolean;
  error: Error | null;
  goOn: () => void;
  isGoingOn: boolean;
}

/** The runs that the filters leave: a page of them from the server, or all of them, of which a page is shown. */
function useListed(filters: Filters): Listed {
  const query = toQuery(filters);
  const isAll = wantsAll(filters);
  const [reach, setReach] = useState({ query, requests: REQUESTS });
  const requests = reach.query === query ? reach.requests : REQUESTS;
  const paged = useRuns(query, !isAll);
  const all = useAllRuns(query, requests, isAll);
  const now = useNow();
  const goOn = (): void => setReach({ query, requests: requests + REQUESTS });
  if (!isAll) {
    const { data, error } = paged;
    const runs = data?.runs;
    return { runs, listed: runs ?? [], total: data?.total ?? 0, isCut: false, error, goOn, isGoingOn: false };
  }
  const { data, error, isPlaceholderData: isGoingOn } = all;
  const found = data ? chosen(data.runs, filters, now) : undefined;
  return {
    runs: found?.slice((filters.page - 1) * PAGE_SIZE, filters.page * PAGE_SIZE),
    listed: found ?? [],
    total: found?.length ?? 0,
    isCut: data?.isCut ?? false,
    error,
    goOn,
    isGoingOn,
  };
}

function GoOn({ goOn, isGoingOn }: { goOn: () => void; isGoingOn: boolean }) {
  return (
    <div className={css.pages}>
      <span>{t('Older runs have not been searched.')}</span>
      <Button variant="default" size="xs" loading={isGoingOn} onClick={goOn}>
        {t('Search more')}
      </Button>
    </div>
  );
}

/** The words where no run is listed. */
function nothing(filters: Filters, clear: () => void): ReactNode {
  if (isFiltered({ ...filters, kind: '' })) return <NoMatch clear={clear} />;
  return filters.kind === 'peer' ? <NoPeerWork /> : <NoRuns />;
}

function NoPeerWork() {
  return (
    <Empty icon={IconTopologyStar3} title={t('No work for other ensembles yet')}>
      <p>
        <Said
          of="Runs of shared tasks that other ensembles asked for are listed here. {link}"
          link={<Link to="/network">{t('See what is shared')}</Link>}
        />
      </p>
    </Empty>
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
