import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Outgoing } from './settings';

/** Sends a message; the composer it came from says why it was refused, and has it back. */
export function useSendMessage(send: (outgoing: Outgoing) => Promise<void>) {
  const client = useQueryClient();
  return useMutation({ mutationFn: send, onSuccess: () => void client.invalidateQueries() });
}
