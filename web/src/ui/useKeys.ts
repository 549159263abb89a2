import { useHotkeys } from '@mantine/hooks';
import type { RefObject } from 'react';

/** The actions of single keys, by key. */
export type Keys = Record<string, () => void>;

/**
 * Single keys for the element in `within`. A key that is held down counts once; none counts while a field or an open menu
 * has the focus, nor while a dialog lies over the element.
 */
export function useKeys(within: RefObject<HTMLElement | null>, keys: Keys): void {
  const isElsewhere = (): boolean =>
    (document.activeElement?.closest('[role="menu"], [role="listbox"]') ?? null) !== null ||
    [...document.querySelectorAll('[aria-modal="true"]')].some((dialog) => !dialog.contains(within.current));
  useHotkeys(
    Object.entries(keys).map(([key, act]): [string, (event: KeyboardEvent) => void] => [
      key,
      (event) => {
        if (!event.repeat && !isElsewhere()) act();
      },
    ]),
  );
}
