import { IconChevronRight } from '@tabler/icons-react';
import { Link, useNavigate } from 'react-router';
import { count, duration, money } from '../../../ui/format';
import { StatusIcon } from '../../../ui/Status';
import { merged, type Row, type Used } from './spans';
import css from './Timeline.module.css';
import { number, t } from '../../../words/t';

interface TimeRowProps {
  runId: string;
  row: Row;
  top: number;
  x: (at: number) => number;
  gapMs: number;
  /** Whether there is room for the usage of each step. */
  isWide: boolean;
  toggle: (id: string) => void;
}

/** One task, subtask or call: its name, and boxes for its parts. */
export function TimeRow({ runId, row, top, x, gapMs, isWide, toggle }: TimeRowProps) {
  const navigate = useNavigate();
  const { from, to, readFrom = -Infinity } = row;
  const took = row.isInherited
    ? t('inherited')
    : from !== undefined && to !== undefined
      ? `${row.isCut ? '≥ ' : ''}${duration(to - from)}`
      : '';
  const isPart = row.id.includes('/');
  return (
    <div className={css.row} style={{ top }}>
      <div className={css.name} style={{ paddingLeft: 10 + row.depth * 16 }}>
        {row.opens === 'no' ? (
          <span className={css.fold} />
        ) : (
          <button
            type="button"
            className={css.fold}
            aria-expanded={row.opens === 'open'}
            aria-label={t('Parts of {name}', { name: row.name })}
            onClick={() => toggle(row.id)}
          >
            <IconChevronRight size={14} />
          </button>
        )}
        {isPart ? null : <StatusIcon status={row.status} size={14} />}
        <Link
          to={`/runs/${runId}/conversation?turn=${row.conversation}${isPart ? `&seq=${row.spans[0]?.seq ?? 0}` : ''}`}
          title={row.name}
        >
          {row.name}
        </Link>
        <small>{took}</small>
        {isWide ? <Usage used={row.used} /> : null}
      </div>
      <div className={css.track}>
        {from !== undefined && to !== undefined ? (
          <>
            {readFrom > from ? (
              <div
                className={css.unread}
                style={{ left: x(from), width: Math.max(2, x(readFrom) - x(from)) }}
                title={t('Details are in earlier events')}
              />
            ) : null}
            {to > readFrom ? (
              <div
                className={css.whole}
                style={{ left: x(Math.max(from, readFrom)), width: Math.max(2, x(to) - x(Math.max(from, readFrom))) }}
              />
            ) : null}
          </>
        ) : null}
        {merged(row.spans, gapMs).map((span) => (
          <div
            key={`${span.kind}${span.from}`}
            aria-hidden
            className={`${css.span} ${css[span.kind]}`}
            title={`${span.title}${span.kind === 'retry' ? '' : ` · ${duration(span.to - span.from)}`}`}
            style={
              span.kind === 'retry'
                ? { left: x(span.from) - 1 }
                : { left: x(span.from), width: Math.max(2, x(span.to) - x(span.from)) }
            }
            onClick={() => navigate(`/runs/${runId}/conversation?turn=${row.conversation}&seq=${span.seq}`)}
          />
        ))}
      </div>
    </div>
  );
}

/** The usage of a step, in columns. */
function Usage({ used }: { used: Used | undefined }) {
  const { inputTokens = 0, outputTokens = 0, costUsd, firstWordMs, tries = 0 } = used ?? {};
  return (
    <>
      <span className={css.cell} data-column="first">
        {firstWordMs === undefined ? '' : duration(firstWordMs)}
      </span>
      <span
        className={css.cell}
        data-column="tokens"
        title={
          used ? t('{input} in, {output} out', { input: number(inputTokens), output: number(outputTokens) }) : undefined
        }
      >
        {inputTokens + outputTokens > 0 ? count(inputTokens + outputTokens) : ''}
      </span>
      <span className={css.cell} data-column="cost">
        {costUsd === undefined ? '' : money(costUsd)}
      </span>
      <span className={css.cell} data-column="tries" data-many={used?.isRetried || undefined}>
        {tries > 0 ? tries : ''}
      </span>
    </>
  );
}
