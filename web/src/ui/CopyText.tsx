import { ActionIcon, CopyButton, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { t } from '../words/t';

/** Copies a text. `what` names it, such as `the answer`. */
export function CopyText({ text, what }: { text: string; what: string }) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? t('Copied') : t('Copy {what}', { what })}>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={copied ? t('Copied {what}', { what }) : t('Copy {what}', { what })}
            onClick={copy}
          >
            {copied ? <IconCheck size={15} /> : <IconCopy size={15} />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  );
}
