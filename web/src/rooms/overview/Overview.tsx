import { Button, SegmentedControl, Skeleton } from '@mantine/core';
import { IconActivity, IconPlus } from '@tabler/icons-react';
import { lazy, type ReactNode, Suspense } from 'react';
import { Link, useSearchParams } from 'react-router';
import { useApprovals, useRuns, useServerStatus, useTurns } from '../../api/queries';
import type { ListedTurn, RunRow } from '../../api/types';
import { useOpenReviews } from '../../review/useHeld';
import { count, money } from '../../ui/format';
import { Empty, ProblemNote } from '../../ui/Note';
import { Card, Page } from '../../ui/Page';
import { useNow } from '../../ui/useNow';
import { RunTable } from '../runs/RunTable';
import { type Bucket, buckets, RANGES, type Spent } from './buckets';
import css from './Overview.module.css';

const Bars = lazy(() => import('./Bars'));

/** Runs and turns of chats looked at: the newest. */
const LOOKED_AT = 500;
const SHOWN = 5;

/** What runs, what waits for a person, what it costs, what went wrong. */
export default function Overview() {
  const { data, error } = useRuns(`limit=${LOOKED_AT}`);
  const runs = data?.runs ?? [];
  const active = runs.filter((run) => run.durationMs === null);
  const failed = runs.filter((run) => run.status === 'FAILED');
  const chats = useTurns(LOOKED_AT).data;
  const isNew = data?.total === 0 && chats?.total === 0;
  return (
    <Page
      title="Overview"
      actions={
        <Button component={Link} to="/runs/new" leftSection={<IconPlus size={16} />} size="xs">
          New run
        </Button>
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

function Numbers({ active, failed }: { active: RunRow[]; failed: RunRow[] }) {
  const reviews = useOpenReviews().total;
  const approvals = useApprovals().data?.approvals ?? [];
  const waiting = reviews + approvals.length;
  const queued = useServerStatus().data?.queueDepth ?? 0;
  const running = active.filter((run) => run.status === 'RUNNING');
  const clock = useNow();
  const now = running
    .map(({ currentTask }) => currentTask?.name)
    .filter(Boolean)
    .slice(0, 2)
    .join(', ');
  const recent = failed.filter((run) => clock - Date.parse(run.startedAt) < 86_400_000).length;
  return (
    <div className={css.numbers}>
      <Figure
        to="/runs?status=RUNNING"
        name="Running"
        tone={running.length > 0 ? 'running' : undefined}
        value={running.length}
      >
        {now || 'nothing just now'}
      </Figure>
      <Figure
        to={reviews === 0 && approvals[0] ? `/chat/${approvals[0].thread_id}` : '/reviews'}
        name="Waiting for a person"
        tone={waiting > 0 ? 'warn' : undefined}
        value={waiting}
      >
        {waits(reviews, approvals.length)}
      </Figure>
      <Figure to="/runs?status=ACCEPTED" name="In the queue" value={queued}>
        {queued > 0 ? 'for a free slot' : 'no queue'}
      </Figure>
      <Figure to="/runs?status=FAILED" name="Failed in a day" tone={recent > 0 ? 'bad' : undefined} value={recent}>
        {failed[0]?.error ?? 'none'}
      </Figure>
    </div>
  );
}

function waits(reviews: number, approvals: number): string {
  const parts = [
    ...(reviews > 0 ? [`${reviews} to review`] : []),
    ...(approvals > 0 ? [`${approvals} to allow in chat`] : []),
  ];
  return parts.length > 0 ? parts.join(', ') : 'nobody waits';
}

function Figure({
  to,
  name,
  value,
  tone,
  children,
}: {
  to: string;
  name: string;
  value: number;
  tone?: string | undefined;
  children: ReactNode;
}) {
  return (
    <Link to={to} className={css.number} data-tone={tone}>
      <span>{name}</span>
      <strong>{value}</strong>
      <small style={{ overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap' }}>{children}</small>
    </Link>
  );
}

/** A server on which nothing has happened: where to begin. */
function Welcome() {
  return (
    <Card>
      <Empty icon={IconActivity} title="Nothing has happened here yet">
        <p>
          Start a run and watch it work, or just ask something. What runs, what waits for you and what it costs shows
          here.
        </p>
        <div className={css.begin}>
          <Button component={Link} to="/runs/new" size="xs">
            Start a run
          </Button>
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

interface SpendingProps {
  runs: RunRow[];
  areRunsCut: boolean;
  turns: ListedTurn[];
  areTurnsCut: boolean;
}

function Spending({ runs, areRunsCut, turns, areTurnsCut }: SpendingProps) {
  const clock = useNow();
  const [params, setParams] = useSearchParams();
  const range = RANGES.find(({ value }) => value === params.get('range')) ?? RANGES[1];
  if (!range) return null;
  const data = buckets({ runs, turns }, range, clock);
  const cut = [
    ...(areRunsCut ? [`the newest ${LOOKED_AT} runs`] : []),
    ...(areTurnsCut ? [`the newest ${LOOKED_AT} turns of chats`] : []),
  ];
  return (
    <section className={css.section} aria-label="Used over time">
      <header>
        <h2>Used over time</h2>
        <ul className={css.legend}>
          <li>Runs</li>
          <li data-chats>Your chats</li>
        </ul>
        {cut.length > 0 ? <span className={css.cut}>only {cut.join(' and ')}</span> : null}
        <SegmentedControl
          size="xs"
          ml="auto"
          aria-label="Span of time"
          data={RANGES.map(({ value, label }) => ({ value, label }))}
          value={range.value}
          onChange={(value) => setParams({ range: value }, { replace: true })}
        />
      </header>
      <div className={css.charts}>
        <Chart
          title="Tokens"
          total={inAll(data, 'tokens', count)}
          none={data.every(({ tokens }) => tokens.runs + tokens.chats === 0) && 'Nothing in this time'}
        >
          <Bars data={data} field="tokens" range={range} />
        </Chart>
        <Chart
          title="Cost"
          total={inAll(data, 'cost', money)}
          none={
            data.every(({ cost }) => cost.runs + cost.chats === 0) && 'No model with a price was asked in this time'
          }
        >
          <Bars data={data} field="cost" range={range} />
        </Chart>
        <Chart
          title="Runs"
          total={`${count(data.reduce((sum, bucket) => sum + bucket.runs, 0))} in all`}
          none={data.every((bucket) => bucket.runs === 0) && 'No run in this time'}
        >
          <Bars data={data} field="runs" range={range} />
        </Chart>
      </div>
    </section>
  );
}

/** The sum, and how much of it is chats. */
function inAll(data: Bucket[], field: 'tokens' | 'cost', format: (value: number) => string): string {
  const sum = (kind: keyof Spent): number => data.reduce((total, bucket) => total + bucket[field][kind], 0);
  const chats = sum('chats');
  return `${format(sum('runs') + chats)} in all${chats > 0 ? `, ${format(chats)} in chats` : ''}`;
}

/** `none`: what to say when there is nothing to draw. */
function Chart({
  title,
  total,
  none,
  children,
}: {
  title: string;
  total: string;
  none: string | false;
  children: ReactNode;
}) {
  return (
    <Card className={css.chart}>
      <header>
        <h3>{title}</h3>
        <span>{total}</span>
      </header>
      {none ? (
        <p className={css.empty}>{none}</p>
      ) : (
        <Suspense fallback={<Skeleton height={150} />}>{children}</Suspense>
      )}
    </Card>
  );
}

function Listed({ title, all, runs, quiet }: { title: string; all: string; runs: RunRow[]; quiet: string }) {
  return (
    <section className={css.section} aria-label={title}>
      <header>
        <h2>{title}</h2>
        {runs.length > SHOWN ? <Link to={all}>all {runs.length}</Link> : null}
      </header>
      <Card>{runs.length > 0 ? <RunTable runs={runs.slice(0, SHOWN)} /> : <p className={css.quiet}>{quiet}</p>}</Card>
    </section>
  );
}
