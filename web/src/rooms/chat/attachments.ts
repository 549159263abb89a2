// The files of a message that is being written. They are uploaded as soon as they are chosen, and kept with the words.

import { remove, upload } from '../../api/client';
import type { Answer } from '../../api/types';
import type { Attached } from '../../chat/frame';
import { draftOf, setDraft } from '../../ui/useDraft';

export interface ChosenFile {
  /** Tells apart files of the same name. */
  key: number;
  name: string;
  bytes: number;
  /** The file as the server has it; absent while it is on its way. */
  attached?: Attached;
  /** The reason the server did not take it. */
  problem?: unknown;
}

/** A message that is being written. */
export interface Draft {
  content: string;
  files: ChosenFile[];
  /** The reason the message was not taken. */
  refusal?: unknown;
}

export const EMPTY: Draft = { content: '', files: [] };

/** The name an unfinished message to a thread is kept under. */
export const draftName = (thread: string): string => `message to ${thread}`;

export const newestDraft = (thread: string): Draft => draftOf<Draft>(draftName(thread)) ?? EMPTY;

let nextKey = 0;

export const chosen = (attached: Attached): ChosenFile => ({
  key: (nextKey += 1),
  name: attached.name,
  bytes: attached.bytes,
  attached,
});

/** Uploads files for the next message to a thread. */
export function attach(thread: string, files: readonly File[]): void {
  for (const file of files) {
    const key = (nextKey += 1);
    change(thread, (all) => [...all, { key, name: file.name, bytes: file.size }]);
    const settle = (part: Partial<ChosenFile>): void =>
      change(thread, (all) => all.map((each) => (each.key === key ? { ...each, ...part } : each)));
    upload<Answer<'POST /api/attachments'>>('POST', '/api/attachments', file).then(
      ({ id, name, mediaType, bytes }) => settle({ attached: { id, name, media_type: mediaType, bytes } }),
      (problem: unknown) => settle({ problem }),
    );
  }
}

/** Takes a file off the next message. */
export function detach(thread: string, file: ChosenFile): void {
  change(thread, (all) => all.filter(({ key }) => key !== file.key));
  // One that an earlier message uses stays, and one that nobody uses is erased within a day anyway.
  if (file.attached) void remove(`/api/attachments/${file.attached.id}`).catch(() => undefined);
}

function change(thread: string, how: (files: ChosenFile[]) => ChosenFile[]): void {
  const draft = newestDraft(thread);
  setDraft(draftName(thread), { ...draft, files: how(draft.files) });
}
