import { ActionIcon } from '@mantine/core';
import { IconX } from '@tabler/icons-react';

interface ForgetButtonProps {
  /** The words for what is taken away. */
  label: string;
  action: { mutate: () => void; isPending: boolean };
}

/** The small cross at the end of a row that takes the row away. */
export function ForgetButton({ label, action }: ForgetButtonProps) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size={24}
      aria-label={label}
      loading={action.isPending}
      onClick={() => action.mutate()}
    >
      <IconX size={15} />
    </ActionIcon>
  );
}
