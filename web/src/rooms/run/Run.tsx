import { Button, Progress, Skeleton } from '@mantine/core';
import { IconGhost, IconHistory } from '@tabler/icons-react';
import { lazy, Suspense, useEffect, useRef } from 'react';
import { Link, Navigate, NavLink, useParams } from 'react-router';
import { Problem } from '../../api/client';
import { useRunDetail } from '../../api/queries';
import type { RunDetail } from '../../api/types';
import type { RunState } from '../../run/state';
import { WINDOW_MAX } from '../../run/store';
import { useRun } from '../../run/useRun';
import { count } from '../../ui/format';
import { Empty, ProblemNote } from '../../ui/Note';
import { useTitle } from '../../ui/Page';
import { runName } from '../../ui/runName';
import { FrozenNow } from '../../ui/useNow';
import { Header } from './Header';
import { ReplayBar } from './ReplayBar';
import css from './Run.module.css';
import { AT, type Replaying, useReplaying } from './useReplaying';
import { number, t } from '../../words/t';
import { Said } from '../../words/Said';

export interface TabProps {
  run: RunState;
  detail: RunDetail;
}

const TABS = {
  graph: { name: t('Graph'), view: lazy(() => import('./graph/Graph')) },
  timeline: { name: t('Timeline'), view: lazy(() => import('./timeline/Timeline')) },
  conversation: { name: t('Conversation'), view: lazy(() => import('./conversation/ConversationTab')) },
  outputs: { name: t('Outputs'), view: lazy(() => import('./outputs/Outputs')) },
  events: { name: t('Events'), view: lazy(() => import('./events/Events')) },
};

export default function Run() {
  const { runId = '', tab = '' } = useParams();
  if (!(tab in TABS)) return <Navigate to={`/runs/${runId}/graph`} replace />;
  return <OneRun key={runId} runId={runId} tab={tab as keyof typeof TABS} />;
}

function OneRun({ runId, tab }: { runId: string; tab: keyof typeof TABS }) {
  const { run, detail: opened, problem, progress, extending, extend } = useRun(runId);
  const fresh = useRunDetail(runId, run !== undefined && !run.endedAt).data;
  const detail = fresh ?? opened;
  const replaying = useReplaying(runId, run?.next ?? 0);
  useTitle(detail ? runName(detail) : t('Run'));
  if (problem) return <Refused problem={problem} runId={runId} />;
  if (!run || !detail) return <Opening progress={progress} />;
  const View = TABS[tab].view;
  const shown = replaying.run ?? run;
  return (
    <div className={css.page}>
      <FrozenNow value={replaying.run ? Date.parse(replaying.run.at) : undefined}>
        <Header run={shown} detail={detail} isReplayed={replaying.run !== undefined} />
        <Tabs run={shown} replaying={replaying} />
        {replaying.replay && replaying.at !== undefined ? (
          <ReplayBar
            replay={replaying.replay}
            at={replaying.at}
            total={run.next}
            go={replaying.go}
            close={replaying.close}
          />
        ) : null}
        {shown.first > 0 && tab !== 'events' && tab !== 'outputs' ? (
          <Older run={run} extending={extending} extend={extend} />
        ) : null}
        <div className={css.body}>
          <Suspense fallback={<Skeleton m={20} w="calc(100% - 40px)" height={200} />}>
            <View run={shown} detail={detail} />
          </Suspense>
        </div>
      </FrozenNow>
    </div>
  );
}

/** The views of the run; a replay goes on from one to another. */
function Tabs({ run, replaying }: { run: RunState; replaying: Replaying }) {
  const counts: Partial<Record<string, number>> = {
    outputs: run.tasks.filter((task) => task.output !== undefined).length,
    events: run.next,
  };
  const search = (path: string): string => {
    const params = new URLSearchParams(path === 'conversation' ? location.search : '');
    if (replaying.at !== undefined) params.set(AT, String(replaying.at));
    return params.toString();
  };
  const { tab } = useParams();
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    const shown = nav.current?.querySelector('[aria-current="page"]');
    shown?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [tab]);
  return (
    <div className={`${css.head} ${css.views}`}>
      <nav className={css.tabs} aria-label={t('Views of the run')} ref={nav}>
        {Object.entries(TABS).map(([path, { name }]) => (
          <NavLink
            key={path}
            to={{ pathname: `/runs/${run.runId}/${path}`, search: search(path) }}
            className={css.tab ?? ''}
          >
            {name}
            {counts[path] === undefined ? null : <small>{count(counts[path])}</small>}
          </NavLink>
        ))}
      </nav>
      {replaying.at === undefined ? (
        <Button
          className={css.replayButton ?? ''}
          size="compact-sm"
          variant="subtle"
          leftSection={<IconHistory size={15} />}
          onClick={() => replaying.go(0)}
        >
          {t('Replay')}
        </Button>
      ) : null}
    </div>
  );
}

function Older({ run, extending, extend }: { run: RunState; extending: boolean; extend: () => void }) {
  const full = run.next - run.first >= WINDOW_MAX;
  return (
    <div className={css.older} role="note">
      {t('Details from event {first} on; tasks, totals and outputs are complete.', { first: number(run.first) })}
      {full ? (
        <Link to={`/runs/${run.runId}/events`}>{t('All events')}</Link>
      ) : (
        <Button size="compact-xs" variant="default" loading={extending} onClick={extend}>
          {t('Show earlier')}
        </Button>
      )}
    </div>
  );
}

function Opening({ progress }: { progress: number }) {
  return (
    <div className={css.loading} aria-busy>
      <Skeleton height={26} width={260} />
      <Skeleton height={40} />
      {progress > 0 ? <Progress value={100 * progress} size="xs" aria-label={t('Reading events')} /> : null}
      <Skeleton height={320} />
    </div>
  );
}

function Refused({ problem, runId }: { problem: Problem; runId: string }) {
  if (!(problem instanceof Problem) || problem.code !== 'RUN_NOT_FOUND') {
    return (
      <div className={css.loading}>
        <ProblemNote what={t('The run could not be opened')} error={problem} />
      </div>
    );
  }
  return (
    <Empty icon={IconGhost} title={t('There is no such run')}>
      <p>
        <Said
          of="{code} does not exist, or has been deleted. {link}"
          code={<code>{runId}</code>}
          link={<Link to="/runs">{t('All runs')}</Link>}
        />
      </p>
    </Empty>
  );
}
