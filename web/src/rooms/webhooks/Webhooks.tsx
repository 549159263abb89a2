import { IconWebhook } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { get } from '../../api/client';
import { useMe, useRefusal } from '../../api/me';
import type { Answer } from '../../api/types';
import { tagText } from '../../ui/format';
import { Empty, ProblemNote } from '../../ui/Note';
import { Card, Page, WideCard } from '../../ui/Page';
import { useParamsInAddress } from '../../ui/useParamsInAddress';
import columns from '../../ui/Table.module.css';
import catalog from '../catalog/Catalog.module.css';
import { Deliveries } from './Deliveries';
import css from './Webhooks.module.css';
import { Said } from '../../words/Said';
import { plural, t } from '../../words/t';

type Webhook = Answer<'GET /api/webhooks'>['webhooks'][number];

/** The time until the webhooks are asked for again. */
const AGAIN_MS = 5_000;

/** The programs that are told of runs, and what each was told. */
export default function Webhooks() {
  const me = useMe();
  const refusal = useRefusal('admin');
  const [params] = useParamsInAddress();
  const { data, error } = useQuery({
    queryKey: ['webhooks'],
    queryFn: ({ signal }) => get<Answer<'GET /api/webhooks'>>('/api/webhooks', signal),
    refetchInterval: AGAIN_MS,
    retry: false,
    enabled: me !== undefined && refusal === undefined,
  });
  const webhooks = data?.webhooks ?? [];
  const shown = params.get('webhook') ?? webhooks[0]?.name;
  return (
    <Page title={t('Webhooks')}>
      {refusal === undefined ? null : (
        <Card>
          <Empty icon={IconWebhook} title={t('Only for administrators')}>
            <p>{refusal}</p>
          </Empty>
        </Card>
      )}
      {error ? <ProblemNote what={t('The webhooks could not be listed')} error={error} /> : null}
      {data && webhooks.length === 0 ? (
        <Card>
          <Empty icon={IconWebhook} title={t('No webhooks are configured')}>
            <p>
              <Said
                of="A webhook tells another program about runs that end and decisions that people are asked for. Add {code} to {code2}."
                code={<code>[[webhook]]</code>}
                code2={<code>consort.toml</code>}
              />
            </p>
          </Empty>
        </Card>
      ) : null}
      {webhooks.length > 0 ? (
        <WideCard name={t('Webhooks')}>
          <table className={`${columns.table} ${catalog.table}`}>
            <thead>
              <tr>
                <th scope="col">{t('Webhook')}</th>
                <th scope="col">{t('Address')}</th>
                <th scope="col">{t('Events')}</th>
                <th scope="col">{t('Only runs')}</th>
                <th scope="col" className={catalog.number}>
                  {t('To be sent')}
                </th>
              </tr>
            </thead>
            <tbody>
              {webhooks.map((webhook) => (
                <Row key={webhook.name} webhook={webhook} isShown={webhook.name === shown} />
              ))}
            </tbody>
          </table>
        </WideCard>
      ) : null}
      {data && shown !== undefined ? <Deliveries key={shown} webhook={shown} /> : null}
    </Page>
  );
}

function Row({ webhook, isShown }: { webhook: Webhook; isShown: boolean }) {
  const { name, url, events, tags, owner, pending } = webhook;
  const only = [
    ...(owner === null ? [] : [t('of {owner}', { owner })]),
    ...Object.entries(tags).map(([tag, value]) => tagText(tag, value)),
  ];
  return (
    <tr data-shown={isShown || undefined}>
      <td>
        <Link
          className={css.name ?? ''}
          to={`?${new URLSearchParams({ webhook: name })}`}
          aria-current={isShown ? 'true' : undefined}
        >
          {name}
        </Link>
      </td>
      <td className={css.address} translate="no">
        {url}
      </td>
      <td data-name={t('Events')}>
        <span className={css.events} translate="no">
          {events.map((event) => (
            <code key={event}>{event}</code>
          ))}
        </span>
      </td>
      <td data-name={t('Only runs')}>{only.length > 0 ? only.join(', ') : t('all')}</td>
      <td className={catalog.number} data-name={t('To be sent')}>
        {plural(pending, '{n} message', '{n} messages')}
      </td>
    </tr>
  );
}
