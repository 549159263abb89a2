import { useEffect } from 'react';
import type { EditorStore } from '../../workflow/store';
import { Bar } from './Bar';
import { CanvasArea } from './CanvasArea';
import { EditorDialogs } from './Dialogs';
import css from './Editor.module.css';
import { Notices } from './Notices';
import { SidePanel } from './SidePanel';
import { type EditorProps, EditorProvider, useNewEditor } from './useEditor';
import { useShortcuts } from './useShortcuts';
import { t } from '../../words/t';

/** The bar, notices below it, then the canvas with the panel beside it. */
export function Room(props: EditorProps) {
  const editor = useNewEditor(props);
  const { store, editing, address, controls, save, shownVersion } = editor;
  useFirstSelection(store, address.task);
  useShortcuts(store, { save, controls, isActive: shownVersion === undefined });
  return (
    <EditorProvider value={editor}>
      <div className={css.page}>
        <Bar />
        <Notices />
        <div className={css.split} data-tab={address.tab}>
          <CanvasArea />
          <SidePanel />
        </div>
        <EditorDialogs />
        <span className="visually-hidden" role="status">
          {editing.touched.length > 0 ? t('Done by {label}', { label: editing.history.past.at(-1)?.label ?? '' }) : ''}
        </span>
      </div>
    </EditorProvider>
  );
}

/** Selects the task the address names when the page opens. */
function useFirstSelection(store: EditorStore, position: number): void {
  useEffect(() => {
    const task = store.graph.tasks[position - 1];
    if (task) store.select([task.id]);
  }, [store]); // oxlint-disable-line react/exhaustive-deps
}
