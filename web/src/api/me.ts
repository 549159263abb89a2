// Who the person is to the server, and what they may do. A server that does not say lets the actions be tried.

import { useQuery } from '@tanstack/react-query';
import { get, Problem } from './client';
import { t } from '../words/t';

/** A scope of a key that an action needs. */
export type Scope = 'run' | 'review' | 'tools' | 'admin';

export interface Me {
  name: string;
  owner: string;
  scopes: string[];
  /** The owners whose runs it sees. */
  sees: 'own' | 'all';
}

/** The actions of each scope, in words. */
const ACTS: Record<Scope, string> = {
  run: t('Starting and steering'),
  review: t('Deciding'),
  tools: t('Calling tools'),
  admin: t('This'),
};

export function useMe(): Me | undefined {
  const { data } = useQuery({
    queryKey: ['me'],
    queryFn: async ({ signal }) => {
      try {
        return await get<Me>('/api/me', signal);
      } catch (error) {
        // A server of an earlier version has no such route.
        if (error instanceof Problem && error.status === 404) return null;
        throw error;
      }
    },
    staleTime: 60_000,
    refetchInterval: 60_000,
  });
  return data ?? undefined;
}

/** The reason why an action of this scope is refused, if it is. */
export function useRefusal(scope: Scope): string | undefined {
  const me = useMe();
  return me && refusalOf(me, scope);
}

export function refusalOf({ name, scopes }: Pick<Me, 'name' | 'scopes'>, scope: Scope): string | undefined {
  if (scopes.includes(scope) || scopes.includes('admin')) return undefined;
  const held = scopes.join(', ') || t('none');
  return t('{what} needs a key with the scope “{scope}”; {name} has {held}.', { what: ACTS[scope], scope, name, held });
}
