// What happens on the server, over one socket: not to be folded, only to know that a list is out of date. Without it
// the lists ask by themselves.

import { openSocket } from './socket';

/** Frames after which a list of runs or reviews looks different. */
const TYPES = [
  'run_accepted',
  'ensemble_started',
  'ensemble_completed',
  'task_started',
  'task_completed',
  'task_failed',
  'metrics_snapshot',
  'cancel_requested',
  'run_paused',
  'run_resumed',
  'model_failed',
  'model_retried',
  'review_requested',
  'review_decided',
  'review_timed_out',
  'review_closed',
];

let isLive = false;

/** Whether news come by themselves. */
export const feedIsLive = (): boolean => isLive;

/** Listens until stopped. `changed` is called when something happened. */
export function openFeed(changed: () => void): () => void {
  const wire = openSocket({
    opened: ({ send }) => {
      isLive = true;
      send({ type: 'subscribe', events: TYPES.concat('heartbeat') });
      changed();
    },
    // The kind comes first in every frame; most frames need not be read further.
    told: (data) => {
      if (TYPES.some((type) => data.startsWith(`{"type":"${type}"`))) changed();
    },
    lost: () => {
      isLive = false;
    },
  });
  return () => {
    isLive = false;
    wire.close();
  };
}
