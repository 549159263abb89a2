import { Tooltip } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Problem } from '../api/client';
import { connections } from '../api/connections';
import { useServerStatus } from '../api/queries';
import { useStore } from '../store/store';
import { useNow } from '../ui/useNow';
import css from './Connection.module.css';
import { t } from '../words/t';

/** The state of the connection to the server, with the time of the next attempt. */
export function Connection() {
  const connection = useStore(connections);
  const status = useServerStatus();
  const client = useQueryClient();
  const problem = status.error instanceof Problem ? status.error : undefined;
  if (connection.state === 'lost' || problem?.isUnreachable) {
    const retry = (): void => {
      if (connection.state === 'lost') connection.retry();
      void client.invalidateQueries();
    };
    return <Lost retryAt={connection.state === 'lost' ? connection.retryAt : undefined} retry={retry} />;
  }
  if (problem) return <Refused problem={problem} />;
  const connecting = connection.state === 'connecting' || status.isPending;
  const server = status.data
    ? t('{ensemble} · version {version}', {
        ensemble: status.data.ensemble || t('no ensemble'),
        version: status.data.version,
      })
    : '';
  return (
    <Tooltip label={connecting ? t('Connecting') : t('Connected: {server}', { server })} position="right">
      <div className={css.line} role="status">
        <span className={`${css.dot} ${connecting ? css.connecting : ''}`} aria-hidden />
        <span className={css.text}>{connecting ? t('Connecting…') : t('Connected')}</span>
      </div>
    </Tooltip>
  );
}

/** The server is there and refuses to answer. */
function Refused({ problem }: { problem: Problem }) {
  return (
    <Tooltip label={problem.message} position="right">
      <div className={css.line} role="status">
        <span className={`${css.dot} ${css.lost}`} aria-hidden />
        <span className={css.text}>
          {problem.status === 401
            ? t('Not connected: it asks for a key')
            : t('Not connected: {message}', { message: problem.message })}
        </span>
      </div>
    </Tooltip>
  );
}

function Lost({ retryAt, retry }: { retryAt: number | undefined; retry: () => void }) {
  const now = useNow();
  const seconds = retryAt === undefined ? 0 : Math.ceil((retryAt - now) / 1_000);
  return (
    <button type="button" className={css.line} onClick={retry} title={t('Try again now')}>
      <span className={`${css.dot} ${css.lost}`} aria-hidden />
      <span className={css.text} role="status">
        {seconds > 0 ? t('Reconnecting in {seconds} s', { seconds }) : t('Reconnecting…')}
      </span>
    </button>
  );
}
