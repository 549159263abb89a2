import { Button, Group, Modal, Text } from '@mantine/core';

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
    <Modal opened={opened} onClose={close} title={`Delete ${what}?`}>
      <Text size="sm">{means} This cannot be undone.</Text>
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={close}>
          Keep it
        </Button>
        <Button color="red" onClick={confirm}>
          Delete
        </Button>
      </Group>
    </Modal>
  );
}
