import { Button, Skeleton } from '@mantine/core';
import { IconActivity, IconPlus } from '@tabler/icons-react';
import { Link } from 'react-router';
import { useRuns, useTurns } from '../../api/queries';
import type { RunRow } from '../../api/types';
import { ActLink } from '../../ui/Act';
import { Empty, ProblemNote } from '../../ui/Note';
import { Card, Page } from '../../ui/Page';
import { RunTable } from '../runs/RunTable';
import { Numbers } from './Numbers';
import css from './Overview.module.css';
import { COUNTED_MAX, Spending } from './Spending';
import { t } from '../../words/t';

/** Runs listed under each heading. */
const LISTED_MAX = 5;

/** The page that says what runs, what waits for a person, what it costs and what went wrong. */
export default function Overview() {
  const { data, error } = useRuns(`limit=${COUNTED_MAX}`);
  const runs = data?.runs ?? [];
  const active = runs.filter((run) => run.durationMs === null);
  const failed = runs.filter((run) => run.status === 'FAILED');
  const chats = useTurns(COUNTED_MAX).data;
  const isNew = data?.total === 0 && chats?.total === 0;
  return (
    <Page
      title={t('Overview')}
      actions={
        <ActLink needs="run" to="/runs/new" leftSection={<IconPlus size={16} />} size="xs">
          {t('New run')}
        </ActLink>
      }
    >
      {error ? <ProblemNote what={t('The runs could not be read')} error={error} /> : null}
      {data ? (
        <>
          <Numbers active={active} failed={failed} />
          {isNew ? (
            <Welcome />
          ) : (
            <>
              <Spending
                runs={runs}
                areRunsCut={data.total > runs.length}
                turns={chats?.turns ?? []}
                areTurnsCut={chats ? chats.total > chats.turns.length : false}
              />
              <Listed
                title={t('In progress')}
                all="/runs?status=RUNNING"
                runs={active}
                quiet={t('Nothing is running.')}
              />
              <Listed
                title={t('Recent failures')}
                all="/runs?status=FAILED"
                runs={failed}
                quiet={t('No run has failed.')}
              />
            </>
          )}
        </>
      ) : error ? null : (
        <Skeleton height={320} radius={10} />
      )}
    </Page>
  );
}

/** Shown on a server on which nothing has happened: where to begin. */
function Welcome() {
  return (
    <Card>
      <Empty icon={IconActivity} title={t('Nothing has happened here yet')}>
        <p>
          {t('Start a run and watch it work, or just ask something.')}{' '}
          {t('This page then shows what is running, what waits for you, and what it costs.')}
        </p>
        <div className={css.begin}>
          <ActLink needs="run" to="/runs/new" size="xs">
            {t('Start a run')}
          </ActLink>
          <Button component={Link} to="/chat/new" size="xs" variant="default">
            {t('Ask something')}
          </Button>
          <Button component={Link} to="/workflows/new" size="xs" variant="default">
            {t('Draw a workflow')}
          </Button>
        </div>
      </Empty>
    </Card>
  );
}

function Listed({ title, all, runs, quiet }: { title: string; all: string; runs: RunRow[]; quiet: string }) {
  return (
    <section className={css.section} aria-label={title}>
      <header>
        <h2>{title}</h2>
        {runs.length > LISTED_MAX ? <Link to={all}>{t('all {count}', { count: runs.length })}</Link> : null}
      </header>
      <Card>
        {runs.length > 0 ? <RunTable runs={runs.slice(0, LISTED_MAX)} /> : <p className={css.quiet}>{quiet}</p>}
      </Card>
    </section>
  );
}
