import { ActionIcon, Loader } from '@mantine/core';
import { IconFile, IconX } from '@tabler/icons-react';
import { download } from '../../api/client';
import type { Attached } from '../../chat/frame';
import { bytes } from '../../ui/format';
import { useAction } from '../../ui/useAction';
import { t } from '../../words/t';
import { type ChosenFile, detach } from './attachments';
import css from './FileChips.module.css';

/** The files of the message that is being written. */
export function ChosenFiles({ thread, files }: { thread: string; files: readonly ChosenFile[] }) {
  if (files.length === 0) return null;
  return (
    <ul className={css.files} aria-label={t('Attached files')}>
      {files.map((file) => (
        <li key={file.key} data-refused={file.problem === undefined ? undefined : true}>
          {file.attached || file.problem ? (
            <IconFile size={14} aria-hidden />
          ) : (
            <Loader size={12} role="img" aria-label={t('Uploading')} />
          )}
          <span>{file.name}</span>
          <small>
            {file.problem instanceof Error
              ? t('not attached: {why}', { why: file.problem.message })
              : bytes(file.bytes)}
          </small>
          <ActionIcon
            size={24}
            variant="subtle"
            color="gray"
            aria-label={t('Remove {name}', { name: file.name })}
            onClick={() => detach(thread, file)}
          >
            <IconX size={13} />
          </ActionIcon>
        </li>
      ))}
    </ul>
  );
}

/** The files a message was sent with; each can be downloaded. */
export function SentFiles({ files }: { files: readonly Attached[] | undefined }) {
  const save = useAction(t('Downloading'), ({ id, name }: Attached) => download(`/api/attachments/${id}`, name));
  if (!files || files.length === 0) return null;
  return (
    <ul className={css.files} data-sent aria-label={t('Attached files')}>
      {files.map((file) => (
        <li key={file.id}>
          <IconFile size={14} aria-hidden />
          <button type="button" onClick={() => save.mutate(file)}>
            {file.name}
          </button>
          <small>{bytes(file.bytes)}</small>
        </li>
      ))}
    </ul>
  );
}
