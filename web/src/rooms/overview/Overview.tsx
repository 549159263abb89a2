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
      title="Overview"
      actions={
        <ActLink needs="run" to="/runs/new" leftSection={<IconPlus size={16} />} size="xs">
          New run
        </ActLink>
      }
    >
      {error ? <ProblemNote what="The runs could not be read" error={error} /> : null}
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
              <Listed title="At work" all="/runs?status=RUNNING" runs={active} quiet="Nothing runs just now." />
              <Listed title="Failed lately" all="/runs?status=FAILED" runs={failed} quiet="No run has failed." />
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
      <Empty icon={IconActivity} title="Nothing has happened here yet">
        <p>
          Start a run and watch it work, or just ask something. What runs, what waits for you and what it costs shows
          here.
        </p>
        <div className={css.begin}>
          <ActLink needs="run" to="/runs/new" size="xs">
            Start a run
          </ActLink>
          <Button component={Link} to="/chat/new" size="xs" variant="default">
            Ask something
          </Button>
          <Button component={Link} to="/workflows/new" size="xs" variant="default">
            Draw a workflow
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
        {runs.length > LISTED_MAX ? <Link to={all}>all {runs.length}</Link> : null}
      </header>
      <Card>
        {runs.length > 0 ? <RunTable runs={runs.slice(0, LISTED_MAX)} /> : <p className={css.quiet}>{quiet}</p>}
      </Card>
    </section>
  );
}
