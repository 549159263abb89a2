import { useNavigate } from 'react-router';
import { post, remove } from '../../api/client';
import type { SavedWorkflow } from '../../api/types';
import { useAction } from '../../ui/useAction';
import { changedSearch } from '../../ui/useParamsInAddress';
import { toDocument } from '../../workflow/convert';
import type { EditorStore } from '../../workflow/store';
import type { Saving } from './useSaving';
import { t } from '../../words/t';

const NAME_MAX = 200;

export type WorkflowActions = ReturnType<typeof useWorkflowActions>;

/** The actions that lead away from this page, or to another address of it. */
export function useWorkflowActions(id: string | undefined, store: EditorStore, saving: Saving) {
  const navigate = useNavigate();
  const start = useAction(
    t('Starting the run'),
    async (inputs: Record<string, unknown>) => {
      const { base, isDirty } = store.snapshot();
      const saved = base === undefined || isDirty ? await saving.save() : { id };
      if (!saved?.id) throw new Error(t('It could not be saved, and only what is saved is run. The page says why.'));
      const { runId } = await post<{ runId: string }>(`/api/workflows/${saved.id}/runs`, { inputs });
      return { runId, id: saved.id };
    },
    ({ runId, id: savedId }) => {
      const search = changedSearch(location.search, { run: runId, version: undefined });
      return navigate({ pathname: `/workflows/${savedId}`, search }, { replace: true });
    },
  );
  const leave = (path: string): void => {
    store.leave();
    void navigate(path);
  };
  const copy = useAction(
    t('Saving a copy'),
    () => {
      const document = toDocument(store.graph);
      const name = t('{name} (copy)', { name: document.name || t('Workflow') }).slice(0, NAME_MAX);
      return post<SavedWorkflow>('/api/workflows', { ...document, name });
    },
    (saved) => leave(`/workflows/${saved.id}`),
  );
  const erase = useAction(
    t('Deleting'),
    () => remove(`/api/workflows/${id}`),
    () => leave('/workflows'),
  );
  return { start, copy, erase };
}
