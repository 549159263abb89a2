import { ActionIcon, Group } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { IconChevronRight, IconZoomIn, IconZoomOut, IconZoomReset } from '@tabler/icons-react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useRef, useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { duration } from '../../../ui/format';
import { StatusIcon } from '../../../ui/Status';
import { useNow } from '../../../ui/useNow';
import type { TabProps } from '../Run';
import { merged, type Row, rows, ticks } from './spans';
import css from './Timeline.module.css';

const ROW_PX = 30;
const AXIS_PX = 26;
const ZOOM_MAX = 256;
/** Pixels between two boxes below which they are drawn as one. */
const GAP_PX = 2;

/** What took how long: tasks and their conversations, with model calls, tools, reviews and retries in them. */
export default function Timeline({ run }: TabProps) {
  const clock = useNow();
  const now = run.endedAt ? Date.parse(run.endedAt) : Math.max(clock, Date.parse(run.at));
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [zoom, setZoom] = useState(1);
  const { ref: sizeRef, width: total } = useElementSize();
  const scroller = useRef<HTMLDivElement>(null);
  const isNarrow = total < 700;
  const names = isNarrow ? 150 : 280;
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
          <Key kind="model">model call</Key>
          <Key kind="tool">tool</Key>
          <Key kind="review">review</Key>
          <Key kind="retry">failed try</Key>
          <Key kind="wait">waiting</Key>
          {run.first > 0 ? <Key kind="unread">in earlier events</Key> : null}
        </div>
        <Group gap={4}>
          <ActionIcon variant="default" aria-label="Zoom out" disabled={zoom <= 1} onClick={() => setZoom(zoom / 2)}>
            <IconZoomOut size={15} />
          </ActionIcon>
          <ActionIcon variant="default" aria-label="Whole run" disabled={zoom === 1} onClick={() => setZoom(1)}>
            <IconZoomReset size={15} />
          </ActionIcon>
          <ActionIcon
            variant="default"
            aria-label="Zoom in"
            disabled={zoom >= ZOOM_MAX}
            onClick={() => setZoom(zoom * 2)}
          >
            <IconZoomIn size={15} />
          </ActionIcon>
        </Group>
      </div>
      <div className={css.scroll} ref={scroller} tabIndex={0} role="region" aria-label="Timeline">
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

function Key({
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

interface TimeRowProps {
  runId: string;
  row: Row;
  top: number;
  x: (at: number) => number;
  gapMs: number;
  toggle: (id: string) => void;
}

function TimeRow({ runId, row, top, x, gapMs, toggle }: TimeRowProps) {
  const navigate = useNavigate();
  const { from, to, readFrom = -Infinity } = row;
  const took = row.isInherited
    ? 'inherited'
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
            aria-label={`Parts of ${row.name}`}
            onClick={() => toggle(row.id)}
          >
            <IconChevronRight size={14} />
          </button>
        )}
        {isPart ? null : <StatusIcon standing={row.standing} size={14} />}
        <Link
          to={`/runs/${runId}/conversation?turn=${row.conversation}${isPart ? `&seq=${row.spans[0]?.seq ?? 0}` : ''}`}
          title={row.name}
        >
          {row.name}
        </Link>
        <small>{took}</small>
      </div>
      <div className={css.track}>
        {from !== undefined && to !== undefined ? (
          <>
            {readFrom > from ? (
              <div
                className={css.unread}
                style={{ left: x(from), width: Math.max(2, x(readFrom) - x(from)) }}
                title="What happened here is in earlier events"
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
