import { Button, Group, Modal, Text } from '@mantine/core';
import { t } from '../words/t';

interface ConfirmDeleteProps {
  /** The thing to delete, such as `this run`. */
  what: string;
  /** The consequences. */
  means: string;
  opened: boolean;
  close: () => void;
  confirm: () => void;
}

/** Asked before something is gone for good. */
export function ConfirmDelete({ what, means, opened, close, confirm }: ConfirmDeleteProps) {
  return (
    <Modal opened={opened} onClose={close} title={t('Delete {what}?', { what })}>
      <Text size="sm">{t('{means} This cannot be undone.', { means })}</Text>
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={close}>
          {t('Keep it')}
        </Button>
        <Button color="red" onClick={confirm}>
          {t('Delete')}
        </Button>
      </Group>
    </Modal>
  );
}
