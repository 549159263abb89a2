import { Button, SegmentedControl } from '@mantine/core';
import { IconSend } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { get, post } from '../../api/client';
import type { Answer } from '../../api/types';
import { ActButton } from '../../ui/Act';
import { shortId } from '../../ui/format';
import { Empty, ProblemNote } from '../../ui/Note';
import { Card } from '../../ui/Page';
import { Ago, Moment, Until } from '../../ui/Time';
import { useAction } from '../../ui/useAction';
import catalog from '../catalog/Catalog.module.css';
import css from './Webhooks.module.css';
import { Said } from '../../words/Said';
import { plural, t } from '../../words/t';

type Delivery = Answer<'GET /api/webhooks/{name}/deliveries'>['deliveries'][number];
type Attempt = Delivery['attempts'][number];

const PAGE_SIZE = 25;
/** The time until the deliveries are asked for again; the first attempt comes at once. */
const AGAIN_MS = 3_000;
const ALL = 'all';

const STATES: Record<Delivery['status'], { text: string; tone: string }> = {
  pending: { text: t('to be sent'), tone: 'warn' },
  delivered: { text: t('delivered'), tone: 'good' },
  dead: { text: t('given up'), tone: 'bad' },
};

/** The deliveries of a webhook, the newest first, with every attempt. */
export function Deliveries({ webhook }: { webhook: string }) {
  const [state, setState] = useState<string>(ALL);
  const [page, setPage] = useState(1);
  const filter = state === ALL ? '' : `&status=${state}`;
  const query = `limit=${PAGE_SIZE}&offset=${(page - 1) * PAGE_SIZE}${filter}`;
  const { data, error } = useQuery({
    queryKey: ['deliveries', webhook, query],
    queryFn: ({ signal }) =>
      get<Answer<'GET /api/webhooks/{name}/deliveries'>>(
        `/api/webhooks/${encodeURIComponent(webhook)}/deliveries?${query}`,
        signal,
      ),
    refetchInterval: AGAIN_MS,
    placeholderData: keepPreviousData,
  });
  const pages = Math.ceil((data?.total ?? 0) / PAGE_SIZE);
  return (
    <Card>
      <header className={css.head}>
        <h2>{t('Deliveries to {webhook}', { webhook })}</h2>
        <SegmentedControl
          size="xs"
          aria-label={t('State')}
          data={[
            { value: ALL, label: t('All') },
            ...Object.entries(STATES).map(([value, { text }]) => ({ value, label: text })),
          ]}
          value={state}
          onChange={(chosen) => {
            setState(chosen);
            setPage(1);
          }}
        />
      </header>
      {error ? <ProblemNote what={t('The deliveries could not be listed')} error={error} /> : null}
      {data?.total === 0 ? (
        <Empty icon={IconSend} title={state === ALL ? t('Nothing has been sent yet') : t('None in this state')} />
      ) : (
        <ul className={css.list} aria-label={t('Deliveries')}>
          {data?.deliveries.map((delivery) => (
            <Row key={delivery.id} delivery={delivery} />
          ))}
        </ul>
      )}
      {pages > 1 ? (
        <nav className={css.pages} aria-label={t('Pages')}>
          <Button variant="default" size="xs" disabled={page <= 1} onClick={() => setPage(page - 1)}>
            {t('Newer')}
          </Button>
          <span>{t('Page {page} of {last}', { page, last: pages })}</span>
          <Button variant="default" size="xs" disabled={page >= pages} onClick={() => setPage(page + 1)}>
            {t('Older')}
          </Button>
        </nav>
      ) : null}
    </Card>
  );
}

function Row({ delivery: { id, event, runId, status, attempts, nextAt } }: { delivery: Delivery }) {
  const again = useAction(t('Sending it again'), () => post(`/api/deliveries/${encodeURIComponent(id)}/redeliver`));
  const { text, tone } = STATES[status];
  const last = attempts.at(-1);
  return (
    <li className={css.delivery}>
      <span translate="no">
        <code>{event}</code>
      </span>
      <span>
        <span className={catalog.chip} data-tone={tone}>
          {text}
        </span>
      </span>
      <span className={css.about}>{subject(runId)}</span>
      <span className={css.tries}>
        {last ? (
          <details>
            <summary>
              {plural(attempts.length, '{n} try', '{n} tries')}, <Said of="the last {ago}" ago={<Ago at={last.at} />} />
            </summary>
            <ol aria-label={t('Tries of {id}', { id })}>
              {attempts.map((attempt) => (
                <Tried key={attempt.at} attempt={attempt} />
              ))}
            </ol>
          </details>
        ) : (
          t('not tried yet')
        )}
        {nextAt ? (
          <span className={css.soft}>
            <Said of="next try {time}" time={<Until at={nextAt} />} />
          </span>
        ) : null}
      </span>
      <ActButton
        needs="admin"
        size="compact-sm"
        variant="default"
        loading={again.isPending}
        aria-label={t('Send again: {id}', { id })}
        onClick={() => again.mutate()}
      >
        {t('Send again')}
      </ActButton>
    </li>
  );
}

/** The run it tells of. An approval tells of a turn, which has no page. */
function subject(id: string) {
  const text = t('run {id}', { id: shortId(id) });
  return id.startsWith('run-') ? <Link to={`/runs/${id}`}>{text}</Link> : <span translate="no">{id}</span>;
}

function Tried({ attempt: { at, status, error } }: { attempt: Attempt }) {
  return (
    <li>
      <Moment at={at} /> · {status === null ? t('no answer') : t('answer {status}', { status })}
      {error ? <span className={css.bad}> · {error}</span> : null}
    </li>
  );
}
