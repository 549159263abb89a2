// The settings a message is sent with: those of the composer, which a browser remembers.

import { useLocalStorage } from '@mantine/hooks';
import { useCapabilities } from '../../api/queries';
import type { Body } from '../../api/types';
import type { Attached, Mode } from '../../chat/frame';
import { useRemembers } from './Memory';

export type Message = Body<'POST /api/threads/{id}/messages'>;

/** A message on its way, with the files it names. */
export interface Outgoing {
  message: Message;
  attached: readonly Attached[];
}

export const useModel = () => useLocalStorage({ key: 'consort.chat.model', defaultValue: '' });

export const useMode = () => useLocalStorage<Mode>({ key: 'consort.chat.mode', defaultValue: 'default' });

/** Makes a message of words, with the settings as they are. */
export function useMessage(): (content: string, attached?: readonly Attached[]) => Message {
  const models = useCapabilities().data?.models ?? [];
  const [model] = useModel();
  const [mode] = useMode();
  const [remembers] = useRemembers();
  const isKnown = models.some(({ alias }) => alias === model);
  return (content, attached = []) => ({
    content,
    ...(attached.length > 0 ? { attachments: attached.map(({ id }) => id) } : {}),
    permission_mode: mode,
    ...(isKnown ? { model } : {}),
    ...(remembers ? { memory_enabled: true } : {}),
  });
}
