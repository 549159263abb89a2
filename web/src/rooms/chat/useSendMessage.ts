import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Message } from './settings';

/** Sends a message; the composer it came from says why it was refused, and has it back. */
export function useSendMessage(send: (message: Message) => Promise<void>) {
  const client = useQueryClient();
  return useMutation({ mutationFn: send, onSuccess: () => void client.invalidateQueries() });
}
