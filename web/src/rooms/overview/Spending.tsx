import { SegmentedControl, Skeleton } from '@mantine/core';
import { lazy, type ReactNode, Suspense } from 'react';
import type { ListedTurn, RunRow } from '../../api/types';
import { count, money } from '../../ui/format';
import { Card } from '../../ui/Page';
import { useNow } from '../../ui/useNow';
import { useParamsInAddress } from '../../ui/useParamsInAddress';
import { type Bucket, buckets, RANGES, type Spent } from './buckets';
import css from './Overview.module.css';
import { t } from '../../words/t';

const Bars = lazy(() => import('./Bars'));

/** Runs and turns of chats that are summed up: the newest. */
export const COUNTED_MAX = 500;

interface SpendingProps {
  runs: RunRow[];
  areRunsCut: boolean;
  turns: ListedTurn[];
  areTurnsCut: boolean;
}

/** Tokens, cost and runs over time. */
export function Spending({ runs, areRunsCut, turns, areTurnsCut }: SpendingProps) {
  const clock = useNow();
  const [params, change] = useParamsInAddress();
  const range = RANGES.find(({ value }) => value === params.get('range')) ?? RANGES[1];
  if (!range) return null;
  const data = buckets({ runs, turns }, range, clock);
  const cut = [
    ...(areRunsCut ? [t('the newest {count} runs', { count: COUNTED_MAX })] : []),
    ...(areTurnsCut ? [t('the newest {count} turns of chats', { count: COUNTED_MAX })] : []),
  ];
  return (
    <section className={css.section} aria-label={t('Usage over time')}>
      <header>
        <h2>{t('Usage over time')}</h2>
        <ul className={css.legend}>
          <li>{t('Runs')}</li>
          <li data-chats>{t('Your chats')}</li>
        </ul>
        {cut.length > 0 ? <span className={css.cut}>{t('only {those}', { those: cut.join(t(' and ')) })}</span> : null}
        <SegmentedControl
          size="xs"
          ml="auto"
          aria-label={t('Time range')}
          data={RANGES.map(({ value, label }) => ({ value, label }))}
          value={range.value}
          onChange={(value) => change({ range: value })}
        />
      </header>
      <div className={css.charts}>
        <Chart
          title={t('Tokens')}
          total={totalText(data, 'tokens', count)}
          none={data.every(({ tokens }) => tokens.runs + tokens.chats === 0) && t('Nothing in this time')}
        >
          <Bars data={data} field="tokens" range={range} />
        </Chart>
        <Chart
          title={t('Cost')}
          total={totalText(data, 'cost', money)}
          none={
            data.every(({ cost }) => cost.runs + cost.chats === 0) && t('No model with a price was used in this time')
          }
        >
          <Bars data={data} field="cost" range={range} />
        </Chart>
        <Chart
          title={t('Runs')}
          total={t('{value} in all', { value: count(data.reduce((sum, bucket) => sum + bucket.runs, 0)) })}
          none={data.every((bucket) => bucket.runs === 0) && t('No run in this time')}
        >
          <Bars data={data} field="runs" range={range} />
        </Chart>
      </div>
    </section>
  );
}

/** The sum, and the part of it that is chats. */
function totalText(data: Bucket[], field: 'tokens' | 'cost', format: (value: number) => string): string {
  const sum = (kind: keyof Spent): number => data.reduce((total, bucket) => total + bucket[field][kind], 0);
  const chats = sum('chats');
  const all = t('{value} in all', { value: format(sum('runs') + chats) });
  return chats > 0 ? t('{all}, {chats} in chats', { all, chats: format(chats) }) : all;
}

/** `none`: the text in place of an empty chart. */
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
