import { ActionIcon, Group } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { IconZoomIn, IconZoomOut, IconZoomReset } from '@tabler/icons-react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useContext, useRef, useState } from 'react';
import { duration } from '../../../ui/format';
import { FrozenNow, useNow } from '../../../ui/useNow';
import type { TabProps } from '../Run';
import { rows, ticks } from './spans';
import { TimeRow } from './TimeRow';
import css from './Timeline.module.css';
import { t } from '../../../words/t';

const ROW_PX = 30;
const AXIS_PX = 26;
const ZOOM_MAX = 256;
/** Pixels for the columns of usage, and those from which there is room for them. */
const USAGE_PX = 248;
const WIDE_PX = 1_000;
/** Pixels between two boxes below which they are drawn as one. */
const GAP_PX = 2;

/** The tasks and their conversations over time, with model calls, tools, reviews and retries in them. */
export default function Timeline({ run }: TabProps) {
  const clock = useNow();
  const frozen = useContext(FrozenNow);
  const now = run.endedAt ? Date.parse(run.endedAt) : (frozen ?? Math.max(clock, Date.parse(run.at)));
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [zoom, setZoom] = useState(1);
  const { ref: sizeRef, width: total } = useElementSize();
  const scroller = useRef<HTMLDivElement>(null);
  const isNarrow = total < 700;
  const isWide = total >= WIDE_PX;
  const names = isNarrow ? 150 : isWide ? 280 + USAGE_PX : 280;
  const begin = Date.parse(run.acceptedAt);
  const span = Math.max(1, now - begin);
  const width = Math.max(100, (total - names) * zoom - 16);
  const shown = rows(run, open, now);
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
    paddingStart: AXIS_PX,
    paddingEnd: 12,
  });
  const toggle = useCallback(
    (id: string) =>
      setOpen((old) => {
        const next = new Set(old);
        if (!next.delete(id)) next.add(id);
        return next;
      }),
    [],
  );
  const x = (at: number): number => ((at - begin) / span) * width;
  return (
    <div className={css.frame}>
      <div className={css.tools}>
        <div>
          <LegendEntry kind="model">{t('model call')}</LegendEntry>
          <LegendEntry kind="tool">{t('tool')}</LegendEntry>
          <LegendEntry kind="review">{t('review')}</LegendEntry>
          <LegendEntry kind="retry">{t('failed try')}</LegendEntry>
          <LegendEntry kind="wait">{t('waiting')}</LegendEntry>
          {run.first > 0 ? <LegendEntry kind="unread">{t('in earlier events')}</LegendEntry> : null}
        </div>
        <Group gap={4}>
          <ActionIcon
            variant="default"
            aria-label={t('Zoom out')}
            disabled={zoom <= 1}
            onClick={() => setZoom(zoom / 2)}
          >
            <IconZoomOut size={15} />
          </ActionIcon>
          <ActionIcon variant="default" aria-label={t('Whole run')} disabled={zoom === 1} onClick={() => setZoom(1)}>
            <IconZoomReset size={15} />
          </ActionIcon>
          <ActionIcon
            variant="default"
            aria-label={t('Zoom in')}
            disabled={zoom >= ZOOM_MAX}
            onClick={() => setZoom(zoom * 2)}
          >
            <IconZoomIn size={15} />
          </ActionIcon>
        </Group>
      </div>
      <div className={css.scroll} ref={scroller} tabIndex={0} role="region" aria-label={t('Timeline')}>
        <div ref={sizeRef}>
          <div
            className={css.plane}
            data-narrow={isNarrow || undefined}
            style={
              {
                height: virtual.getTotalSize(),
                width: names + width + 16,
                '--names': `${names}px`,
              } as React.CSSProperties
            }
          >
            {ticks(span, Math.max(2, Math.min(400, width / 90))).map((at) => (
              <div key={at} className={css.grid} style={{ left: names + (at / span) * width }} />
            ))}
            <div className={css.axis}>
              {isWide ? <Columns /> : null}
              {ticks(span, Math.max(2, Math.min(400, width / 90))).map((at) => (
                <span key={at} style={{ left: names + (at / span) * width }}>
                  {at === 0 ? '0' : duration(at).replace(/ 0 s$/, '')}
                </span>
              ))}
            </div>
            {virtual.getVirtualItems().map(({ index, start }) => {
              const row = shown[index];
              return row ? (
                <TimeRow
                  key={row.id}
                  runId={run.runId}
                  row={row}
                  top={start}
                  x={x}
                  gapMs={(GAP_PX * span) / width}
                  isWide={isWide}
                  toggle={toggle}
                />
              ) : null;
            })}
          </div>
        </div>
      </div>
    </div>
  );
}

/** The names of the columns of usage. */
function Columns() {
  return (
    <div className={css.columns}>
      <span>{t('Duration')}</span>
      <span className={css.cell} title={t('Time until the first word, where this page saw it come')}>
        {t('First word')}
      </span>
      <span className={css.cell}>{t('Tokens')}</span>
      <span className={css.cell}>{t('Cost')}</span>
      <span className={css.cell} title={t('Model calls made, failed ones included')}>
        {t('Attempts')}
      </span>
    </div>
  );
}

function LegendEntry({
  kind,
  children,
}: {
  kind: 'model' | 'tool' | 'review' | 'retry' | 'wait' | 'unread';
  children: string;
}) {
  return (
    <span className={css.key}>
      <i className={css[kind]} style={{ position: 'static' }} aria-hidden />
      {children}
    </span>
  );
}
