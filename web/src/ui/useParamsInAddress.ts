// The parameters in the address of a page, such as filters and what is chosen: one way to read and to change them.

import { useCallback } from 'react';
import { type NavigateFunction, useNavigate, useSearchParams } from 'react-router';

/** The new values of parameters by name; one that is undefined or has no values is taken away. */
export type ParamChange = Record<string, string | readonly string[] | undefined>;

/** The change, or the change for the parameters as they are. */
type Change = ParamChange | ((now: URLSearchParams) => ParamChange);

/** Whether the address before is a step to go back to. */
type Step = 'push' | 'replace';

export type ChangeParams = (change: Change, step?: Step) => void;

/** The parameters as they are drawn, and a function that changes some of them; the others stay. */
export function useParamsInAddress(): [URLSearchParams, ChangeParams] {
  const [params] = useSearchParams();
  const navigate = useNavigate();
  const change = useCallback<ChangeParams>(
    (changed, step = 'replace') => changeAddress(window.location, navigate, changed, step),
    [navigate],
  );
  return [params, change];
}

/**
 * Goes to the same page with changed parameters. They are those of the address, because what is drawn may be older: a filter
 * that was just taken away would come back with the next change. The page is drawn at once, so that a field that shows a
 * parameter keeps every letter that is typed.
 */
export function changeAddress(
  address: Pick<Location, 'search'>,
  navigate: NavigateFunction,
  change: Change,
  step: Step,
): void {
  const now = new URLSearchParams(address.search);
  const search = changedSearch(now, typeof change === 'function' ? change(now) : change);
  void navigate({ search }, { replace: step === 'replace', flushSync: true });
}

/** The parameters after a change. */
export function changedSearch(old: URLSearchParams | string, change: ParamChange): string {
  const next = new URLSearchParams(old);
  for (const [name, values] of Object.entries(change)) {
    next.delete(name);
    for (const value of values === undefined ? [] : [values].flat()) next.append(name, value);
  }
  return next.toString();
}
