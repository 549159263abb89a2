import { notifications } from '@mantine/notifications';
import { useCallback, useEffect, useRef } from 'react';
import { dropDraft, keepDraft, readDraft } from '../../workflow/drafts';
import { EMPTY } from '../../workflow/graph';
import type { Editing, EditorStore } from '../../workflow/store';
import { t } from '../../words/t';

/** Pause in the typing after which a change is kept. */
const PAUSE_MS = 300;

export interface KeptDraft {
  /** When the draft was left that this page went on with. */
  leftAt: number | undefined;
  /** Goes back to what is saved; it can be undone. */
  discard: () => void;
}

/** Keeps every unsaved change in this browser, and goes on with the draft there is when the page opens. */
export function useKeptDraft(
  store: EditorStore,
  { history, base, isDirty, leftAt }: Editing,
  id: string | undefined,
): KeptDraft {
  const isReady = useRef(false);
  const isOpen = id === undefined || base !== undefined;
  useEffect(() => {
    if (!isOpen || isReady.current) return;
    isReady.current = true;
    const draft = store.snapshot().isDirty ? undefined : readDraft(localStorage, id);
    if (draft) store.restore(draft);
  }, [isOpen, store, id]);
  const keep = useCallback(() => {
    if (!isReady.current) return;
    const now = store.snapshot();
    if (!now.isDirty) return dropDraft(localStorage, id);
    const version = now.base?.version;
    const draft = { graph: now.history.present, at: Date.now(), ...(version === undefined ? {} : { version }) };
    if (!keepDraft(localStorage, id, draft))
      notifications.show({
        id: 'no-room',
        color: 'red',
        message: t('This browser has no room left for the draft. Download the workflow, or save it.'),
      });
  }, [store, id]);
  useEffect(() => {
    const timer = setTimeout(keep, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [keep, history.present, isDirty]);
  useEffect(() => {
    window.addEventListener('pagehide', keep);
    return () => {
      window.removeEventListener('pagehide', keep);
      keep();
    };
  }, [keep]);
  return {
    leftAt: isDirty ? leftAt : undefined,
    discard: () => store.edit(t('discard the draft'), () => store.snapshot().base?.graph ?? EMPTY),
  };
}
