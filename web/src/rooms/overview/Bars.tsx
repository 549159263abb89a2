import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import { count, money } from '../../ui/format';
import type { Bucket, Range } from './buckets';
import { locale, t } from '../../words/t';

const HEIGHT = 150;

/** One number over time, as bars: of runs and of chats, or of runs that failed and did not. */
export default function Bars({
  data,
  field,
  range,
}: {
  data: Bucket[];
  field: 'tokens' | 'cost' | 'runs';
  range: Range;
}) {
  const format = field === 'cost' ? money : count;
  const rows = data.map(({ from, runs, failed, ...spent }) => ({
    at: label(from, range),
    ...(field === 'runs' ? { runs: runs - failed, failed } : spent[field]),
  }));
  const series =
    field === 'runs'
      ? [
          { name: 'runs', label: t('Not failed'), color: 'var(--accent)' },
          { name: 'failed', label: t('Failed'), color: 'var(--bad)' },
        ]
      : [
          { name: 'runs', label: t('Runs'), color: 'var(--accent)' },
          { name: 'chats', label: t('Your chats'), color: 'var(--second)' },
        ];
  return (
    <BarChart
      h={HEIGHT}
      data={rows}
      dataKey="at"
      type="stacked"
      series={series}
      valueFormatter={format}
      withLegend={false}
      gridAxis="x"
      tickLine="none"
      yAxisProps={{ width: field === 'cost' ? 60 : 52, tickCount: 4, allowDecimals: field === 'cost' }}
      xAxisProps={{ interval: 'preserveStartEnd', minTickGap: 24 }}
      barProps={{ isAnimationActive: false, radius: 2 }}
    />
  );
}

function label(from: number, { stepMs }: Range): string {
  const date = new Date(from);
  const time = date.toLocaleTimeString(locale(), { hour: '2-digit', minute: '2-digit' });
  return stepMs > 3_600_000 ? `${date.toLocaleDateString(locale(), { day: 'numeric', month: 'short' })} ${time}` : time;
}
