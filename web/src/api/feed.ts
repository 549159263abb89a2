// News of the server over one socket: they are not folded, they only say that a list is out of date. Without the socket
// the lists are asked for again from time to time.

import type { ServerFrame } from '../../../clients/typescript/src/generated/frames';
import { openSocket } from './socket';

/** Frames after which a list of runs, reviews or approvals looks different. */
const TYPES: readonly ServerFrame['type'][] = [
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
  'budget_raised',
  'model_failed',
  'model_retried',
  'review_requested',
  'review_decided',
  'review_timed_out',
  'review_closed',
  'tool_approval_request',
  'tool_approval_resolved',
];

let isLive = false;

/** Whether the socket is connected, so that lists need not be asked for often. */
export const feedIsLive = (): boolean => isLive;

/** Listens until stopped. `changed` is called when a list may look different. */
export function openFeed(changed: () => void): () => void {
  const socket = openSocket({
    opened: ({ send }) => {
      isLive = true;
      send({ type: 'subscribe', events: [...TYPES, 'heartbeat'] });
      changed();
    },
    received: ({ type }) => {
      if (TYPES.includes(type)) changed();
    },
    lost: () => {
      isLive = false;
    },
  });
  return () => {
    isLive = false;
    socket.close();
  };
}
