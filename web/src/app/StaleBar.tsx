import { Button } from '@mantine/core';
import { useEffect, useState } from 'react';
import { connections } from '../api/connections';
import { useStore } from '../store/store';
import { Duration } from '../ui/Time';
import css from './Connection.module.css';
import { t } from '../words/t';
import { Said } from '../words/Said';

/** Time without a connection after which a page says so: shorter ones are over before they are read. */
const PATIENCE_MS = 1_500;

/** Says that what a page shows is what was known when the server was last there. */
export function StaleBar() {
  const connection = useStore(connections);
  const isLost = connection.state !== 'live';
  const [since, setSince] = useState<string>();
  useEffect(() => {
    if (!isLost) return undefined;
    const lostAt = new Date().toISOString();
    const timer = setTimeout(() => setSince(lostAt), PATIENCE_MS);
    return () => {
      clearTimeout(timer);
      setSince(undefined);
    };
  }, [isLost]);
  if (since === undefined) return null;
  return (
    <div className={css.stale} role="alert">
      <span>
        <Said
          of="The server cannot be reached. This page shows the state of {time} ago."
          time={<Duration from={since} />}
        />
      </span>
      {connection.state === 'lost' ? (
        <Button size="compact-xs" variant="default" onClick={connection.retry}>
          {t('Try again now')}
        </Button>
      ) : null}
    </div>
  );
}
