import { ActionIcon, CloseButton, CopyButton, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconCheck, IconGitFork, IconLink } from '@tabler/icons-react';
import { useQueries, useQuery } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import { Link } from 'react-router';
import { get } from '../../../api/client';
import type { RunDetail } from '../../../api/types';
import { isInherited, type StoredFrame } from '../../../run/frame';
import type { RunState } from '../../../run/state';
import { ActIcon } from '../../../ui/Act';
import { duration } from '../../../ui/format';
import { Json } from '../../../ui/Json';
import { ProblemNote } from '../../../ui/Note';
import { isForPeers } from '../../../ui/runName';
import { changedSearch, useParamsInAddress } from '../../../ui/useParamsInAddress';
import { RepeatDialog } from '../RepeatDialog';
import type { TabProps } from '../Run';
import { aboutText, ownerText, toneOf } from './about';
import { EventFilters } from './EventFilters';
import css from './Events.module.css';
import { isFiltering, readFilter } from './match';
import { useMatches } from './useMatches';
import { t } from '../../../words/t';

const PAGE = 200;
/** Time after which pages out of sight are forgotten, so that a long log does not fill the memory. */
const KEPT_MS = 20_000;

/** The run's log as it is stored. Every event can be scrolled to, and has an address. */
export default function Events({ run, detail }: TabProps) {
  const [params] = useParamsInAddress();
  const chosen = params.has('event') ? Number(params.get('event')) : undefined;
  const filter = readFilter(params);
  const isFiltered = isFiltering(filter);
  const matches = useMatches(run.runId, filter, run.next);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: isFiltered ? matches.found.length : run.next,
    getScrollElement: () => scroller.current,
    estimateSize: () => 28,
    overscan: 20,
  });
  const items = virtual.getVirtualItems();
  const pages = usePages(run.runId, isFiltered ? undefined : items, run.next);
  useEffect(() => {
    if (!isFiltered) virtual.scrollToIndex(chosen ?? (run.endedAt ? 0 : run.next - 1), { align: 'center' });
  }, [isFiltered]); // oxlint-disable-line react/exhaustive-deps
  return (
    <div className={css.split}>
      <div className={css.events}>
        <EventFilters run={run} filter={filter} matches={matches} />
        {matches.error ? (
          <ProblemNote what={t('The events could not be looked through')} error={matches.error} />
        ) : null}
        <div className={css.list} ref={scroller} tabIndex={0} role="region" aria-label={t('Events')}>
          <div className={css.plane} style={{ height: virtual.getTotalSize() }}>
            {items.map(({ index, start }) => {
              const frame = isFiltered ? matches.found[index] : pages(index);
              const seq = isFiltered ? (frame?.seq ?? index) : index;
              return <Row key={seq} run={run} seq={seq} top={start} frame={frame} isChosen={seq === chosen} />;
            })}
          </div>
        </div>
      </div>
      {chosen === undefined ? null : <Chosen detail={detail} seq={chosen} />}
    </div>
  );
}

/** The events by their numbers, as far as the rows that are drawn need them. */
function usePages(
  runId: string,
  drawn: { index: number }[] | undefined,
  total: number,
): (seq: number) => StoredFrame | undefined {
  const [first, last] = [drawn?.[0]?.index ?? 0, drawn?.at(-1)?.index ?? 0];
  const length = drawn ? Math.floor(last / PAGE) - Math.floor(first / PAGE) + 1 : 0;
  const numbers = Array.from({ length }, (_, position) => Math.floor(first / PAGE) + position);
  const found = useQueries({
    queries: numbers.map((page) => {
      const size = Math.min(PAGE, total - page * PAGE);
      return {
        // A page that was not full is asked for again when it has grown.
        queryKey: ['events', runId, page, size],
        queryFn: ({ signal }: { signal: AbortSignal }) =>
          get<{ events: StoredFrame[] }>(
            `/api/runs/${runId}/events?from=${page * PAGE}&limit=${Math.max(1, size)}`,
            signal,
          ),
        staleTime: Infinity,
        gcTime: KEPT_MS,
      };
    }),
  });
  return (seq) => found[Math.floor(seq / PAGE) - Math.floor(first / PAGE)]?.data?.events[seq % PAGE];
}

/** The address of an event, with the filter as it is. */
const searchWith = (seq: number): string => changedSearch(location.search, { event: String(seq) });

interface RowProps {
  run: RunState;
  seq: number;
  top: number;
  frame: StoredFrame | undefined;
  isChosen: boolean;
}

function Row({ run, seq, top, frame, isChosen }: RowProps) {
  return (
    <Link to={{ search: searchWith(seq) }} replace className={css.row} style={{ top }} aria-current={isChosen}>
      <span className={css.seq}>{seq}</span>
      <span className={css.time}>
        {frame
          ? isInherited(frame)
            ? t('inherited')
            : `+${duration(Date.parse(frame.at) - Date.parse(run.acceptedAt))}`
          : ''}
      </span>
      <span className={css.type} data-tone={frame ? toneOf(frame) : undefined}>
        {frame?.type ?? '…'}
      </span>
      <span className={css.task}>{frame ? ownerText(run, frame) : ''}</span>
      <span className={css.about}>{frame ? aboutText(frame) : ''}</span>
    </Link>
  );
}

function Chosen({ detail, seq }: { detail: RunDetail; seq: number }) {
  const { runId } = detail;
  const [, change] = useParamsInAddress();
  const [forking, fork] = useDisclosure(false);
  const { data, error } = useQuery({
    queryKey: ['event', runId, seq],
    queryFn: ({ signal }) => get<{ events: StoredFrame[] }>(`/api/runs/${runId}/events?from=${seq}&limit=1`, signal),
    staleTime: Infinity,
    gcTime: KEPT_MS,
  });
  const frame = data?.events[0];
  return (
    <aside className={css.panel} aria-label={t('Event {seq}', { seq })}>
      <header>
        <h2>
          #{seq} {frame?.type}
        </h2>
        {isForPeers(runId) ? null : (
          <Tooltip label={t('A new run with everything before this event')}>
            <ActIcon needs="run" variant="default" aria-label={t('Fork before this event')} onClick={fork.open}>
              <IconGitFork size={15} />
            </ActIcon>
          </Tooltip>
        )}
        <CopyButton value={location.href}>
          {({ copied, copy }) => (
            <Tooltip label={copied ? t('Copied') : t('Copy the link to this event')}>
              <ActionIcon variant="default" aria-label={t('Copy the link to this event')} onClick={copy}>
                {copied ? <IconCheck size={15} /> : <IconLink size={15} />}
              </ActionIcon>
            </Tooltip>
          )}
        </CopyButton>
        <CloseButton aria-label={t('Close the panel')} onClick={() => change({ event: undefined })} />
      </header>
      {error ? <ProblemNote what={t('The event could not be read')} error={error} /> : null}
      {data && !frame ? <p>{t('There is no event {seq} yet.', { seq })}</p> : null}
      {frame ? <Json value={frame} openTo={3} /> : null}
      <RepeatDialog key={seq} detail={detail} kind="fork" seq={seq} opened={forking} close={fork.close} />
    </aside>
  );
}
