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
            of="Tools and tasks that it shares with {code} are then listed here, and tasks can use them."
            code={<code>[[ensemble.share]]</code>}
          />
        </p>
        <pre className={css.example}>{EXAMPLE}</pre>
      </Empty>
    </div>
  );
}
