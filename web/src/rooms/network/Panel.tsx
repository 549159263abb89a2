import { CloseButton } from '@mantine/core';
import { progressText } from '../../run/words';
import shared from '../../ui/Canvas.module.css';
import { clock } from '../../ui/format';
import { Ago, Duration } from '../../ui/Time';
import panel from '../../ui/Panel.module.css';
import { CapabilityCard } from './CapabilityCard';
import { type Ensemble, isAway, nodeId, usable, tags } from './ensembles';
import css from './Network.module.css';
import { Load, PRESENCES } from './Presence';
import { t } from '../../words/t';
import { Said } from '../../words/Said';

/** One ensemble beside the map: its state and its capabilities. */
export function EnsemblePanel({ ensemble, close }: { ensemble: Ensemble; close: () => void }) {
  const { presence, capabilities } = ensemble;
  return (
    <aside className={panel.panel} aria-label={t('Ensemble {name}', { name: ensemble.name })}>
      <div className={panel.head}>
        <h2>{ensemble.name || t('This server')}</h2>
        <span className={`${shared.tone} ${css.pill}`} data-tone={PRESENCES[presence].tone}>
          {PRESENCES[presence].word}
        </span>
        <CloseButton aria-label={t('Close the panel')} onClick={close} />
      </div>
      <dl className={panel.facts}>
        {ensemble.alias ? (
          <>
            <dt>{t('Announces itself as')}</dt>
            <dd>{ensemble.alias}</dd>
          </>
        ) : null}
        <dt>{t('Realm')}</dt>
        <dd>{ensemble.realm === undefined ? t('not known') : (ensemble.realm ?? t('none|realm'))}</dd>
        {ensemble.load ? (
          <>
            <dt>{t('Load')}</dt>
            <dd>
              <Load load={ensemble.load} />
            </dd>
          </>
        ) : null}
        {ensemble.since ? (
          <>
            <dt>{t('Linked for')}</dt>
            <dd>
              <Duration from={ensemble.since} />, {ensemble.isDialled ? t('from here') : t('from there')}
            </dd>
          </>
        ) : null}
        {ensemble.goneAt ? (
          <>
            <dt>{t('Disconnected')}</dt>
            <dd>
              <Said of="{ago}, at {time}" ago={<Ago at={ensemble.goneAt} />} time={clock(ensemble.goneAt)} />
            </dd>
          </>
        ) : null}
        {ensemble.error ? (
          <>
            <dt>{t('Reason')}</dt>
            <dd>{ensemble.error}</dd>
          </>
        ) : null}
        {ensemble.version ? (
          <>
            <dt>{t('Version')}</dt>
            <dd>{ensemble.version}</dd>
          </>
        ) : null}
      </dl>
      {ensemble.requests.length > 0 ? (
        <section className={panel.section}>
          <h3>{t('Working for this ensemble')}</h3>
          {ensemble.requests.map((request) => (
            <p key={request.requestId} className={css.request}>
              <code>{request.capability}</code> {progressText(request)}
            </p>
          ))}
        </section>
      ) : null}
      <section className={panel.section}>
        <h3>{t('Shared')}</h3>
        {capabilities.length === 0 ? (
          <p className={css.quiet}>{isAway(ensemble) ? t('Nothing is known.') : t('Nothing.')}</p>
        ) : null}
        {capabilities.map((capability) => (
          <CapabilityCard key={capability.name} ensemble={ensemble} capability={capability} />
        ))}
      </section>
    </aside>
  );
}

interface SharedPanelProps {
  all: Ensemble[];
  tag: string | null;
  setTag: (tag: string | null) => void;
  choose: (id: string) => void;
}

/** The capabilities of the network by tag, and the ensembles that are gone. */
export function SharedPanel({ all, tag, setTag, choose }: SharedPanelProps) {
  const found = usable(all, tag);
  const gone = all
    .filter(({ presence }) => presence === 'gone')
    .toSorted((one, other) => (other.goneAt ?? '').localeCompare(one.goneAt ?? ''));
  return (
    <aside className={panel.panel} aria-label={t('On the network')}>
      <div className={panel.head}>
        <h2>{t('On the network')}</h2>
      </div>
      {tags(all).length > 0 ? (
        <div className={css.tags} role="group" aria-label={t('Tags')}>
          {tags(all).map(({ tag: each, count }) => (
            <button
              key={each}
              type="button"
              aria-pressed={each === tag}
              onClick={() => setTag(each === tag ? null : each)}
            >
              #{each} <small>{count}</small>
            </button>
          ))}
        </div>
      ) : null}
      <section className={panel.section}>
        <h3>{tag === null ? t('Can be used from here') : t('Can be used from here, tagged {tag}', { tag })}</h3>
        {found.length === 0 ? (
          <p className={css.quiet}>
            {tag === null ? t('Nobody shares anything at the moment.') : t('Nothing with this tag.')}
          </p>
        ) : null}
        {found.map(({ ensemble, capability }) => (
          <CapabilityCard key={`${ensemble.name}.${capability.name}`} ensemble={ensemble} capability={capability} />
        ))}
      </section>
      {gone.length > 0 ? (
        <section className={panel.section}>
          <h3>{t('Disconnected')}</h3>
          {gone.map(({ name, goneAt, capabilities }) => (
            <button key={name} type="button" className={css.gone} onClick={() => choose(nodeId(name))}>
              <strong>{name}</strong>
              <span>
                {goneAt ? <Ago at={goneAt} /> : null}
                {capabilities.length > 0
                  ? t(', with {names}', { names: capabilities.map((each) => each.name).join(', ') })
                  : ''}
              </span>
            </button>
          ))}
        </section>
      ) : null}
    </aside>
  );
}
