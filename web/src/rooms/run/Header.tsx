import { Link } from 'react-router';
import { connections } from '../../api/connections';
import type { RunDetail } from '../../api/types';
import { runActivity } from '../../run/activity';
import type { RunState } from '../../run/state';
import { useStore } from '../../store/store';
import { count, money, printed, shortId, tagText } from '../../ui/format';
import { isForPeers, runName } from '../../ui/runName';
import { shownStatus, StatusPill } from '../../ui/Status';
import { Ago, Duration } from '../../ui/Time';
import { Controls } from './Controls';
import { NowLine } from './NowLine';
import css from './Run.module.css';
import { t } from '../../words/t';

/** The name, current step and usage of the run, with its controls. */
export function Header({ run, detail, isReplayed }: { run: RunState; detail: RunDetail; isReplayed: boolean }) {
  const isLost = useStore(connections).state === 'lost' && !run.endedAt;
  return (
    <header className={css.head} style={{ borderBottom: 0 }}>
      <div className={css.top}>
        <div className={css.crumbs}>
          {isForPeers(run.runId) ? (
            <Link to="/runs?kind=peer">{t('Work for others')}</Link>
          ) : (
            <Link to="/runs">{t('Runs')}</Link>
          )}
          <span aria-hidden>/</span>
          <h1 className={css.title} title={detail.title}>
            {runName(detail)}
          </h1>
          {detail.title && run.ensemble ? <span>{run.ensemble}</span> : null}
          <code title={run.runId}>{shortId(run.runId)}</code>
          {isLost ? <span className={css.stale}>{t('Last seen:')}</span> : null}
          <StatusPill
            status={shownStatus({
              ...run,
              cancelRequested: run.cancel !== undefined,
              waitingFor: isWaiting(run) ? 'review' : undefined,
            })}
          />
          <Origin detail={detail} />
          <EditedOutputs tasks={detail.tasks} />
          {Object.entries(detail.tags).map(([name, value]) => (
            <span key={name} className={css.tag} title={`${name}:${value}`}>
              {tagText(name, value)}
            </span>
          ))}
        </div>
        {isReplayed || isForPeers(run.runId) ? null : <Controls run={run} detail={detail} />}
      </div>
      <NowLine run={run} detail={detail} isReplayed={isReplayed} />
      <Inputs inputs={detail.inputs} />
      <Stats run={run} detail={detail} />
    </header>
  );
}

function Origin({ detail: { retryOf, forkedFrom } }: { detail: RunDetail }) {
  if (retryOf)
    return (
      <Link className={css.tag} to={`/runs/${retryOf}`}>
        {t('retry of {id}', { id: shortId(retryOf) })}
      </Link>
    );
  return forkedFrom ? (
    <Link className={css.tag} to={`/runs/${forkedFrom.runId}/events?event=${forkedFrom.seq}`}>
      {t('forked from {id} at {seq}', { id: shortId(forkedFrom.runId), seq: forkedFrom.seq })}
    </Link>
  ) : null;
}

/** The tasks that were given other outputs when the run was made of another, and who gave them. */
function EditedOutputs({ tasks }: Pick<RunDetail, 'tasks'>) {
  const edited = tasks.filter(({ outputEditedBy }) => outputEditedBy !== undefined);
  if (edited.length === 0) return null;
  const names = edited.map(({ name }) => name).join(', ');
  const by = [...new Set(edited.map(({ outputEditedBy }) => outputEditedBy))].join(', ');
  const text = t('output of {names} edited by {by}', { names, by });
  return (
    <span className={css.tag} title={text}>
      {text}
    </span>
  );
}

const isWaiting = (run: RunState): boolean => run.reviews.size > 0 && runActivity(run).reviewId !== undefined;

/** The values the run was started with. */
function Inputs({ inputs }: { inputs: RunDetail['inputs'] }) {
  const entries = Object.entries(inputs);
  if (entries.length === 0) return null;
  return (
    <dl className={css.inputs} aria-label={t('Inputs')}>
      {entries.map(([name, value]) => (
        <div key={name} title={printed(value)}>
          <dt>{name}</dt>
          <dd>{printed(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function Stats({ run, detail }: { run: RunState; detail: RunDetail }) {
  const { totals, tasks } = run;
  const { limits } = detail;
  const declared = tasks.filter((task) => !task.isManager);
  const done = declared.filter((task) => task.status === 'COMPLETED').length;
  const tokens = totals.inputTokens + totals.outputTokens;
  return (
    <dl className={css.stats}>
      <Stat name={t('Tasks')}>
        {done} <small>{t('of {count}', { count: declared.length })}</small>
      </Stat>
      <Stat name={run.endedAt ? t('Duration') : t('Running for')}>
        <Duration from={run.acceptedAt} to={run.endedAt} />
      </Stat>
      <Stat name={t('Tokens')} used={tokens} limit={limits.maxTotalTokens}>
        {totals.unknownTokens ? '≥ ' : ''}
        {count(tokens)}{' '}
        <small className={css.more}>
          {t('{value} in · {value2} out', { value: count(totals.inputTokens), value2: count(totals.outputTokens) })}
        </small>
      </Stat>
      <Stat name={t('Cost')} used={totals.costUsd} limit={limits.maxCostUsd}>
        {totals.unpriced ? <small>{t('no price set')}</small> : money(totals.costUsd)}
        {limits.maxCostUsd === undefined ? null : (
          <small> {t('of {value}', { value: money(limits.maxCostUsd) })}</small>
        )}
      </Stat>
      <Stat name={t('Model calls')} used={totals.modelCalls} limit={limits.maxTotalLlmCalls} minor>
        {count(totals.modelCalls)}
      </Stat>
      <Stat name={t('Tool calls')} used={totals.toolCalls} limit={limits.maxTotalToolCalls} minor>
        {count(totals.toolCalls)}
      </Stat>
      <Stat name={t('Model')} minor>
        {run.model ?? detail.model}
      </Stat>
      <Stat name={t('Started')} minor>
        <Ago at={run.acceptedAt} />
      </Stat>
    </dl>
  );
}

interface StatProps {
  name: string;
  children: React.ReactNode;
  used?: number;
  limit?: number | undefined;
  minor?: true;
}

function Stat({ name, children, used = 0, limit, minor }: StatProps) {
  const share = limit ? Math.min(1, used / limit) : 0;
  return (
    <div className={css.stat} data-minor={minor}>
      <dt>{name}</dt>
      <dd>
        {children}
        {limit ? (
          <div
            className={css.budget}
            role="img"
            aria-label={t('{value} % of the budget of {limit}', { value: Math.round(100 * share), limit })}
            title={t('{value} % of the budget', { value: Math.round(100 * share) })}
          >
            <i data-tone={share >= 1 ? 'bad' : share > 0.8 ? 'warn' : 'good'} style={{ width: `${100 * share}%` }} />
          </div>
        ) : null}
      </dd>
    </div>
  );
}
