import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { t } from '../words/t';

/** A request a person makes: sent once, its failure shown, and every query refreshed after it. */
export function useAction<T, V = void>(what: string, action: (value: V) => Promise<T>, done?: (answer: T) => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: action,
    onSuccess: (answer) => {
      void client.invalidateQueries();
      done?.(answer);
    },
    onError: (error) =>
      notifications.show({
        color: 'red',
        title: t('{what} did not work', { what }),
        message: error.message,
        autoClose: 8_000,
      }),
  });
}
