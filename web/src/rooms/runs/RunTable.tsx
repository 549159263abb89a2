import { Link } from 'react-router';
import type { RunRow } from '../../api/types';
import { count, duration, money, shortId, tagText } from '../../ui/format';
import { runName } from '../../ui/runName';
import { shownStatus, StatusPill, statusTone } from '../../ui/Status';
import { Ago, Duration } from '../../ui/Time';
import columns from '../../ui/Table.module.css';
import { Doing } from './Doing';
import css from './Runs.module.css';
import { t } from '../../words/t';

/** The runs a person has selected, where runs can be. */
export interface Selection {
  ids: ReadonlySet<string>;
  set: (ids: ReadonlySet<string>) => void;
}

interface RunTableProps {
  runs: RunRow[];
  selection?: Selection;
}

/** Tags shown in a row; its page has all of them. */
const TAGS_MAX = 3;

/** Runs, one in a row, each a link to its page. */
export function RunTable({ runs, selection }: RunTableProps) {
  const isAll = selection !== undefined && runs.every(({ runId }) => selection.ids.has(runId));
  return (
    <table className={`${columns.table} ${css.table}`}>
      <thead>
        <tr>
          <th scope="col">
            {selection ? (
              <input
                type="checkbox"
                className={css.check}
                aria-label={t('Select all runs of this page')}
                checked={isAll}
                onChange={() => selection.set(new Set(isAll ? [] : runs.map(({ runId }) => runId)))}
              />
            ) : null}
            {t('Status')}
          </th>
          <th scope="col">{t('Run')}</th>
          <th scope="col">{t('Tasks')}</th>
          <th scope="col">{t('Activity or output')}</th>
          <th scope="col" className={css.number}>
            {t('Duration')}
          </th>
          <th scope="col" className={css.number}>
            {t('Tokens')}
          </th>
          <th scope="col" className={css.number}>
            {t('Cost')}
          </th>
          <th scope="col" className={css.number}>
            {t('Started')}
          </th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <Row key={run.runId} run={run} selection={selection} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ run, selection }: { run: RunRow; selection: Selection | undefined }) {
  const cost = run.costEstimate;
  return (
    <tr data-selected={selection?.ids.has(run.runId) || undefined}>
      <td>
        <div className={css.first}>
          {selection ? <Check run={run} selection={selection} /> : null}
          <StatusPill status={shownStatus(run)} />
        </div>
      </td>
      <td>
        <Link className={css.name} to={`/runs/${run.runId}`} title={run.title}>
          {runName(run)}
        </Link>
        <div className={css.about}>
          <span>{run.ensemble || t('Composed')}</span>
          <span className={css.id}>{shortId(run.runId)}</span>
          <Tags tags={run.tags} />
        </div>
      </td>
      <td>
        <Progress run={run} />
      </td>
      <td className={css.now}>
        <Doing run={run} />
      </td>
      <td className={css.number}>
        {run.durationMs === null ? <Duration from={run.startedAt} /> : duration(run.durationMs)}
      </td>
      <td className={css.number}>
        {run.totalTokens < 0 ? <span className={css.muted}>{t('unknown')}</span> : count(run.totalTokens)}
      </td>
      <td className={css.number}>
        {cost ? money(cost.inputCost + cost.outputCost) : <span className={css.muted}>–</span>}
      </td>
      <td className={`${css.number} ${css.muted}`}>
        <Ago at={run.startedAt} />
      </td>
    </tr>
  );
}

function Check({ run: { runId, ...run }, selection: { ids, set } }: { run: RunRow; selection: Selection }) {
  const toggle = (): void => {
    const next = new Set(ids);
    if (!next.delete(runId)) next.add(runId);
    set(next);
  };
  return (
    <input
      type="checkbox"
      className={css.check}
      aria-label={t('Select {value}, {id}', { value: runName({ runId, ...run }), id: shortId(runId) })}
      checked={ids.has(runId)}
      onChange={toggle}
    />
  );
}

function Tags({ tags }: { tags: RunRow['tags'] }) {
  const entries = Object.entries(tags);
  if (entries.length === 0) return null;
  const hidden = entries.slice(TAGS_MAX);
  return (
    <span className={css.tags}>
      {entries.slice(0, TAGS_MAX).map(([name, value]) => (
        <Link
          key={name}
          className={css.tag}
          to={`/runs?${new URLSearchParams({ tag: `${name}:${value}` })}`}
          title={t('Only runs tagged {name}:{value}', { name, value })}
        >
          {tagText(name, value)}
        </Link>
      ))}
      {hidden.length > 0 ? (
        <span className={css.moreTags} title={hidden.map(([name, value]) => `${name}:${value}`).join('\n')}>
          +{hidden.length}
        </span>
      ) : null}
    </span>
  );
}

function Progress({ run }: { run: RunRow }) {
  const share = run.taskCount === 0 ? 0 : (100 * run.completedTasks) / run.taskCount;
  return (
    <div className={css.progress}>
      <div className={css.track} aria-hidden>
        <div className={css.fill} data-tone={statusTone(shownStatus(run))} style={{ width: `${share}%` }} />
      </div>
      <span>
        {t('{completedTasks} of {taskCount}', { completedTasks: run.completedTasks, taskCount: run.taskCount })}
      </span>
    </div>
  );
}
