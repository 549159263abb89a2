import { Skeleton } from '@mantine/core';
import { IconSchema } from '@tabler/icons-react';
import { useCallback, useEffect, useState } from 'react';
import { Link, useNavigate, useParams } from 'react-router';
import type { SavedWorkflow } from '../../api/types';
import { useStore } from '../../store/store';
import { Empty, ProblemNote } from '../../ui/Note';
import { useTitle } from '../../ui/Page';
import { EditorStore } from '../../workflow/store';
import css from './Editor.module.css';
import { Room } from './Room';
import { useKeptDraft } from './useKeptDraft';
import { useSaving } from './useSaving';
import { t } from '../../words/t';
import { Said } from '../../words/Said';

const NEW = 'new';

/** The store of a workflow saved under `/workflows/new`, which goes on under the id it was given. */
let handedOver: { id: string; store: EditorStore } | undefined;

/** One workflow, saved or not yet. */
export default function Editor() {
  const { workflowId = NEW } = useParams();
  return <OneWorkflow key={workflowId} id={workflowId === NEW ? undefined : workflowId} />;
}

function OneWorkflow({ id }: { id: string | undefined }) {
  const [store] = useState(() => (handedOver && handedOver.id === id ? handedOver.store : new EditorStore()));
  const editing = useStore(store);
  const navigate = useNavigate();
  const created = useCallback(
    (saved: SavedWorkflow) => {
      handedOver = { id: saved.id, store };
      void navigate({ pathname: `/workflows/${saved.id}`, search: location.search }, { replace: true });
    },
    [navigate, store],
  );
  useEffect(() => {
    if (handedOver?.store === store && handedOver.id === id) handedOver = undefined;
  }, [store, id]);
  const saving = useSaving(store, editing, id, created);
  const draft = useKeptDraft(store, editing, id);
  const graph = editing.history.present;
  useTitle(graph.name || (id === undefined ? t('New workflow') : t('Workflow')));
  if (saving.error && editing.base === undefined && id !== undefined)
    return (
      <div className={css.opening}>
        <ProblemNote what={t('The workflow could not be opened')} error={saving.error} />
      </div>
    );
  if (saving.isGone && editing.base === undefined) {
    return (
      <Empty icon={IconSchema} title={t('There is no such workflow')}>
        <p>
          <Said
            of="{code} does not exist, or has been deleted. {link}"
            code={<code>{id}</code>}
            link={<Link to="/workflows">{t('All workflows')}</Link>}
          />
        </p>
      </Empty>
    );
  }
  if (id !== undefined && editing.base === undefined)
    return (
      <div className={css.opening} aria-busy>
        <Skeleton height={28} width={260} />
        <Skeleton height={420} />
      </div>
    );
  return <Room id={id} store={store} editing={editing} saving={saving} draft={draft} />;
}
