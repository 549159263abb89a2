import { IconAffiliate } from '@tabler/icons-react';
import shared from '../../ui/Canvas.module.css';
import { Empty } from '../../ui/Note';
import css from './Network.module.css';

const EXAMPLE = '[network.peers]\npantry = "ws://10.0.0.7:7329/ws"';

/** Shown while no other ensemble is known. */
export function NoPeers() {
  return (
    <div className={`${shared.canvas} ${css.canvas}`}>
      <Empty icon={IconAffiliate} title="No other ensembles yet">
        <p>
          Name a server in <code>consort.toml</code>, here or there: one side is enough. What it shares with{' '}
          <code>[[ensemble.share]]</code> then shows here and can be used by tasks.
        </p>
        <pre className={css.example}>{EXAMPLE}</pre>
      </Empty>
    </div>
  );
}
