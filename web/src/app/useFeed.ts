import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { openFeed } from '../api/feed';
import { key } from '../api/key';
import { useServerStatus } from '../api/queries';

/** Lists are asked for at most this often, however much happens. */
const PAUSE_MS = 700;

/** Refreshes the lists when the server's news say that they changed. */
export function useFeed(): void {
  const client = useQueryClient();
  // A server that asks for a key is not connected to before there is one.
  const isKnown = useServerStatus().isSuccess;
  useEffect(() => {
    if (!isKnown || key.snapshot().isAsked) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const refresh = (): void => {
      timer = undefined;
      void client.invalidateQueries({ queryKey: ['runs'] });
      void client.invalidateQueries({ queryKey: ['reviews'] });
      void client.invalidateQueries({ queryKey: ['approvals'] });
    };
    const stop = openFeed(() => {
      timer ??= setTimeout(refresh, PAUSE_MS);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [client, isKnown]);
}
