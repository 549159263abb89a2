import { IconAffiliate } from '@tabler/icons-react';
import shared from '../../ui/Canvas.module.css';
import { Empty } from '../../ui/Note';
import css from './Network.module.css';
import { t } from '../../words/t';
import { Said } from '../../words/Said';

const EXAMPLE = '[network.peers]\npantry = "ws://10.0.0.7:7329/ws"';

/** Shown while no other ensemble is known. */
export function NoPeers() {
  return (
    <div className={`${shared.canvas} ${css.canvas}`}>
      <Empty icon={IconAffiliate} title={t('No other ensembles yet')}>
        <p>
          <Said of="Name a server in {code}, here or there: one side is enough." code={<code>consort.toml</code>} />{' '}
          <Said
            of="What it shares with {code} then shows here and can be used by tasks."
            code={<code>[[ensemble.share]]</code>}
          />
        </p>
        <pre className={css.example}>{EXAMPLE}</pre>
      </Empty>
    </div>
  );
}
