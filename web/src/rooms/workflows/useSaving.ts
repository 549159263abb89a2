import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { get, post, Problem, replace } from '../../api/client';
import type { SavedWorkflow } from '../../api/types';
import { toDocument } from '../../workflow/convert';
import type { Editing, EditorStore } from '../../workflow/store';
import { t } from '../../words/t';

/** Time between two looks for a newer version. */
const LOOK_MS = 4_000;

export interface Saving {
  /** The newest version there is. */
  newest: SavedWorkflow | undefined;
  /** A newer version of another author, while there are unsaved changes here. */
  theirs: SavedWorkflow | undefined;
  /** The reason the workflow cannot be shown or saved. */
  error: Error | null;
  isGone: boolean;
  isSaving: boolean;
  save: () => Promise<SavedWorkflow | undefined>;
  takeTheirs: () => void;
  keepMine: () => void;
}

/** The saved versions of the edited workflow: opened, kept up to date, and never overwritten unseen. */
export function useSaving(
  store: EditorStore,
  { history, base, isDirty }: Editing,
  id: string | undefined,
  created: (saved: SavedWorkflow) => void,
): Saving {
  const client = useQueryClient();
  const queryKey = ['workflow', id];
  const {
    data: newest,
    error,
    refetch,
  } = useQuery({
    queryKey,
    queryFn: ({ signal }) => get<SavedWorkflow>(`/api/workflows/${id}`, signal),
    enabled: id !== undefined,
    refetchInterval: LOOK_MS,
  });
  const isNewer = newest !== undefined && base !== undefined && newest.version > base.version;
  useEffect(() => {
    if (!newest) return;
    const { base: known, isDirty: changed } = store.snapshot();
    if (!known) store.open(newest);
    else if (newest.version > known.version && !changed) {
      store.open(newest);
      notifications.show({
        message: t('{updatedBy} saved version {version}. It is on the canvas now.', {
          updatedBy: newest.updatedBy,
          version: newest.version,
        }),
      });
    }
  }, [newest, store]);
  const saving = useMutation({
    mutationFn: async () => {
      const { graph } = store;
      const known = store.snapshot().base;
      const document = toDocument(graph);
      const saved =
        id === undefined || known === undefined
          ? await post<SavedWorkflow>('/api/workflows', document)
          : await replace<SavedWorkflow>(`/api/workflows/${id}`, known.version, document);
      store.saved(saved, graph);
      return saved;
    },
    onSuccess: (saved) => {
      client.setQueryData(['workflow', saved.id], saved);
      void client.invalidateQueries({ queryKey: ['workflows'] });
      for (const warning of saved.warnings ?? []) notifications.show({ color: 'yellow', message: warning });
      if (id === undefined) created(saved);
    },
    onError: (problem) => {
      if (problem instanceof Problem && problem.status === 412) void refetch();
    },
  });
  // A linkRefusal does not hold for a changed graph.
  const { isError, reset } = saving;
  useEffect(() => {
    if (isError) reset();
  }, [history.present]); // oxlint-disable-line react/exhaustive-deps
  const isStale = saving.error instanceof Problem && saving.error.status === 412;
  const isGone = [saving.error, error].some(
    (problem) => problem instanceof Problem && problem.code === 'WORKFLOW_NOT_FOUND',
  );
  return {
    newest,
    theirs: isNewer && isDirty ? newest : undefined,
    error: isStale || isGone ? null : (saving.error ?? (newest ? null : error)),
    isGone,
    isSaving: saving.isPending,
    save: () => saving.mutateAsync().catch(() => undefined),
    takeTheirs: () => {
      if (newest) store.take(t('take version {version}', { version: newest.version }), newest);
      saving.reset();
    },
    keepMine: () => {
      if (newest) store.rebase(newest);
      saving.reset();
    },
  };
}
