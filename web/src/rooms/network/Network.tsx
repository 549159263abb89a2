import { Skeleton } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { Link } from 'react-router';
import { useNetwork } from '../../api/queries';
import { ProblemNote } from '../../ui/Note';
import { useTitle } from '../../ui/Page';
import { useParamsInAddress } from '../../ui/useParamsInAddress';
import { type Ensemble, ensembles, HERE, isAway, nodeId } from './ensembles';
import { NoPeers } from './NoPeers';
import css from './Network.module.css';
import { SharedPanel, EnsemblePanel } from './Panel';
import { plural, t } from '../../words/t';

const Map = lazy(() => import('./Map'));

/** The page with this ensemble and the others it knows: a map, and a panel with what they share. */
export default function Network() {
  useTitle(t('Network'));
  const { data, error } = useNetwork();
  return (
    <div className={css.page}>
      <header className={css.top}>
        <h1>{t('Network')}</h1>
        {data ? <span role="status">{summary(ensembles(data))}</span> : null}
        <Link className={css.work ?? ''} to="/runs?kind=peer">
          {t('Work for others')}
        </Link>
      </header>
      {error ? (
        <div className={css.note}>
          <ProblemNote what={t('The network could not be read')} error={error} />
        </div>
      ) : null}
      {data ? (
        <MapAndPanel all={ensembles(data)} />
      ) : error ? null : (
        <Skeleton m={20} w="calc(100% - 40px)" height={320} />
      )}
    </div>
  );
}

function MapAndPanel({ all }: { all: Ensemble[] }) {
  const [params, change] = useParamsInAddress();
  const chosen = params.has('ensemble') ? (params.get('ensemble') ?? HERE) : undefined;
  const tag = params.get('tag');
  const set = (name: string, value: string | null): void =>
    change((now) => ({ [name]: value === null || now.get(name) === value ? undefined : value }));
  const ensemble = chosen === HERE ? all[0] : all.slice(1).find(({ name }) => nodeId(name) === chosen);
  return (
    <div className={css.split}>
      {all.length > 1 ? (
        <Suspense fallback={<Skeleton m={20} w="calc(100% - 40px)" height={320} />}>
          <Map all={all} chosen={chosen} tag={tag} choose={(id) => set('ensemble', id)} />
        </Suspense>
      ) : (
        <NoPeers />
      )}
      {ensemble ? (
        <EnsemblePanel key={ensemble.name} ensemble={ensemble} close={() => set('ensemble', null)} />
      ) : (
        <SharedPanel all={all} tag={tag} setTag={(value) => set('tag', value)} choose={(id) => set('ensemble', id)} />
      )}
    </div>
  );
}

function summary(all: Ensemble[]): string {
  const others = all.slice(1);
  const linked = others.filter((each) => !isAway(each)).length;
  const away = others.length - linked;
  const first = plural(linked, '{n} ensemble linked', '{n} ensembles linked');
  return away > 0 ? t('{linked}, {away} not connected', { linked: first, away }) : first;
}
