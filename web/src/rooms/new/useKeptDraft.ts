import { useLocalStorage } from '@mantine/hooks';
import { useMemo } from 'react';
import type { Draft } from './draft';

const NAME = 'consort.new-run';

interface KeptDraft {
  draft: Draft;
  change: (changed: Partial<Draft>) => void;
  /** Forgets what was written. */
  forget: () => void;
}

/** The run being composed, kept in this browser until it is started or thrown away. */
export function useKeptDraft(empty: () => Draft): KeptDraft {
  // oxlint-disable-next-line react/exhaustive-deps
  const initial = useMemo(empty, []);
  const [kept, setKept, forget] = useLocalStorage<Partial<Draft>>({
    key: NAME,
    defaultValue: {},
    getInitialValueInEffect: false,
  });
  // A draft of an earlier version of the page has fewer fields.
  const draft = { ...initial, ...kept };
  return { draft, change: (changed) => setKept((old) => ({ ...old, ...changed })), forget };
}
