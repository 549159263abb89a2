import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';

/** Something a person asks of the server: done once, failures told, what is shown refreshed. */
export function useAction<T, V = void>(what: string, action: (value: V) => Promise<T>, done?: (answer: T) => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: action,
    onSuccess: (answer) => {
      void client.invalidateQueries();
      done?.(answer);
    },
    onError: (error) =>
      notifications.show({ color: 'red', title: `${what} did not work`, message: error.message, autoClose: 8_000 }),
  });
}
