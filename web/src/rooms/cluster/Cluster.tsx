import { IconServer2 } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { get } from '../../api/client';
import { useMe, useRefusal } from '../../api/me';
import type { Answer } from '../../api/types';
import { Empty, ProblemNote } from '../../ui/Note';
import { Card, Page, WideCard } from '../../ui/Page';
import { Countdown } from '../../ui/Time';
import columns from '../../ui/Table.module.css';
import css from '../catalog/Catalog.module.css';
import { Said } from '../../words/Said';
import { t } from '../../words/t';

type Node = Answer<'GET /api/cluster'>['nodes'][number];

/** The time after which the nodes are asked for again: as long as a lease lasts by default. */
const AGAIN_MS = 5_000;

/** The servers that share a store, and whether each is heard of. */
export default function Cluster() {
  const me = useMe();
  const refusal = useRefusal('admin');
  const { data, error } = useQuery({
    queryKey: ['cluster'],
    queryFn: ({ signal }) => get<Answer<'GET /api/cluster'>>('/api/cluster', signal),
    refetchInterval: AGAIN_MS,
    retry: false,
    enabled: me !== undefined && refusal === undefined,
  });
  return (
    <Page title={t('Cluster')}>
      {refusal === undefined ? null : (
        <Card>
          <Empty icon={IconServer2} title={t('Only for administrators')}>
            <p>{refusal}</p>
          </Empty>
        </Card>
      )}
      {error ? <ProblemNote what={t('The nodes could not be listed')} error={error} /> : null}
      {data ? (
        <WideCard name={t('Nodes')}>
          <table className={`${columns.table} ${css.table}`}>
            <thead>
              <tr>
                <th scope="col">{t('Node')}</th>
                <th scope="col">{t('Address')}</th>
                <th scope="col">{t('Version')}</th>
                <th scope="col">{t('Now')}</th>
                <th scope="col" className={css.number}>
                  {t('Runs')}
                </th>
              </tr>
            </thead>
            <tbody>
              {data.nodes.map((node) => (
                <Row key={node.name} node={node} />
              ))}
            </tbody>
          </table>
        </WideCard>
      ) : null}
      {data?.nodes.every(({ leaseUntil }) => !leaseUntil) ? (
        <Card>
          <Empty icon={IconServer2} title={t('This server is not part of a cluster')}>
            <p>
              <Said
                of="Servers with the same {code} in {code2} share their runs, and take over the runs of a server that has stopped."
                code={<code>[cluster]</code>}
                code2={<code>consort.toml</code>}
              />
            </p>
          </Empty>
        </Card>
      ) : null}
    </Page>
  );
}

function Row({ node: { name, address, version, leaseUntil, draining, runs } }: { node: Node }) {
  return (
    <tr>
      <td>
        <strong>{name}</strong>
      </td>
      <td>{address}</td>
      <td data-name={t('Version')}>{version}</td>
      <td data-name={t('Now')}>
        <span>
          <span className={css.chip} data-tone={draining ? 'warn' : 'good'}>
            {draining ? t('draining') : t('active')}
          </span>{' '}
          {leaseUntil ? <Said of="its lease ends in {time}" time={<Countdown to={leaseUntil} />} /> : null}
        </span>
      </td>
      <td className={css.number} data-name={t('Runs')}>
        {runs}
      </td>
    </tr>
  );
}
