import { Select, Skeleton } from '@mantine/core';
import { IconArrowsDiff } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { get } from '../../api/client';
import { useRuns } from '../../api/queries';
import type { RunDetail } from '../../api/types';
import { count, duration, money, printed, shortId } from '../../ui/format';
import { Empty, ProblemNote } from '../../ui/Note';
import { Card, Page } from '../../ui/Page';
import { runName } from '../../ui/runName';
import { shownStatus, StatusPill } from '../../ui/Status';
import { useParamsInAddress } from '../../ui/useParamsInAddress';
import { aligned, difference, type Figure, figures } from './align';
import css from './Compare.module.css';
import { PairView } from './PairView';
import { t } from '../../words/t';

/** Runs to choose from; any other is compared by its address. */
const LISTED = 200;

function useDetail(runId: string) {
  return useQuery({
    queryKey: ['run', runId],
    queryFn: ({ signal }) => get<RunDetail>(`/api/runs/${encodeURIComponent(runId)}`, signal),
    enabled: runId !== '',
    retry: false,
  });
}

/** Two runs side by side: what they were asked, what they used, and what came out. */
export default function Compare() {
  const [params, change] = useParamsInAddress();
  const [a, b] = [params.get('a') ?? '', params.get('b') ?? ''];
  const left = useDetail(a);
  const right = useDetail(b);
  const choose = (side: 'a' | 'b', runId: string): void => change({ [side]: runId });
  const error = left.error ?? right.error;
  return (
    <Page title={t('Compare two runs')}>
      <div className={css.choice}>
        <Choice label={t('First run')} value={a} choose={(runId) => choose('a', runId)} />
        <Choice label={t('Second run')} value={b} choose={(runId) => choose('b', runId)} />
      </div>
      {error ? <ProblemNote what={t('A run could not be read')} error={error} /> : null}
      {a === '' || b === '' ? (
        <Card>
          <Empty icon={IconArrowsDiff} title={t('Choose two runs')}>
            <p>
              {t('Their tasks stand side by side, with what differs between their outputs, prompts, times and costs.')}
            </p>
          </Empty>
        </Card>
      ) : null}
      {left.data && right.data ? <Both left={left.data} right={right.data} /> : null}
      {left.isLoading || right.isLoading ? <Skeleton height={240} radius={10} /> : null}
    </Page>
  );
}

function Choice({ label, value, choose }: { label: string; value: string; choose: (runId: string) => void }) {
  const runs = useRuns(`limit=${LISTED}`).data?.runs ?? [];
  const options = runs.map((run) => ({ value: run.runId, label: `${runName(run)} · ${shortId(run.runId)}` }));
  const isListed = value === '' || runs.some(({ runId }) => runId === value);
  return (
    <Select
      label={label}
      searchable
      limit={50}
      placeholder={t('Choose a run')}
      data={isListed ? options : [{ value, label: t('run {id}', { id: shortId(value) }) }, ...options]}
      value={value || null}
      onChange={(runId) => choose(runId ?? '')}
    />
  );
}

function Both({ left, right }: { left: RunDetail; right: RunDetail }) {
  const { time, tokens, cost, calls } = figures(left, right);
  const names = [...new Set([...Object.keys(left.inputs), ...Object.keys(right.inputs)])];
  return (
    <>
      <Card>
        <table className={css.table} aria-label={t('The two runs')}>
          <thead>
            <tr>
              <th scope="col">
                <span className="visually-hidden">{t('Of the run')}</span>
              </th>
              {[left, right].map((run) => (
                <th key={run.runId} scope="col">
                  <Link to={`/runs/${run.runId}`}>{runName(run)}</Link> <code>{shortId(run.runId)}</code>
                </th>
              ))}
              <th scope="col">{t('Difference')}</th>
            </tr>
          </thead>
          <tbody>
            <tr>
              <th scope="row">{t('Status')}</th>
              {[left, right].map((run) => (
                <td key={run.runId}>
                  <StatusPill status={shownStatus(run)} />
                </td>
              ))}
              <td>{left.status === right.status ? '' : t('different')}</td>
            </tr>
            <Words name={t('Model')} left={left.model ?? ''} right={right.model ?? ''} />
            {names.map((name) => (
              <Words
                key={name}
                name={name}
                left={printed(left.inputs[name] ?? '')}
                right={printed(right.inputs[name] ?? '')}
              />
            ))}
            {time.map((figure) => (
              <Numbers key={figure.name} figure={figure} show={duration} />
            ))}
            {[...tokens, ...calls].map((figure) => (
              <Numbers key={figure.name} figure={figure} show={count} />
            ))}
            {cost.map((figure) => (
              <Numbers key={figure.name} figure={figure} show={money} />
            ))}
          </tbody>
        </table>
      </Card>
      {aligned(left, right).map((pair, position) => (
        <PairView key={`${pair.name}${position}`} pair={pair} />
      ))}
    </>
  );
}

function Words({ name, left, right }: { name: string; left: string; right: string }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{left}</td>
      <td>{right}</td>
      <td>{left === right ? '' : t('different')}</td>
    </tr>
  );
}

function Numbers({ figure, show }: { figure: Figure; show: (value: number) => string }) {
  const { name, left, right } = figure;
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{left === undefined ? '–' : show(left)}</td>
      <td>{right === undefined ? '–' : show(right)}</td>
      <td>{difference(figure)}</td>
    </tr>
  );
}
