import { useHotkeys } from '@mantine/hooks';
import type { RefObject } from 'react';

/** What single keys do, by key. */
export type Keys = Record<string, () => void>;

/**
 * Single keys for the element in `within`. A key that is held down counts once; none counts while a field has the
 * focus, nor while a dialog lies over the element.
 */
export function useKeys(within: RefObject<HTMLElement | null>, keys: Keys): void {
  const isCovered = (): boolean => [...document.querySelectorAll('[aria-modal="true"]')].some((dialog) => !dialog.contains(within.current));
  useHotkeys(Object.entries(keys).map(([key, act]): [string, (event: KeyboardEvent) => void] => [key, (event) => {
    if (!event.repeat && !isCovered()) act();
  }]));
}
