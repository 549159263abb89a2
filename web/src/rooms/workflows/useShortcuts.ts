import { useEffect } from 'react';
import type { EditorStore } from '../../workflow/store';
import { focusTask, isText } from './focus';
import type { CanvasControls } from './useCanvasControls';

/** Keys that work wherever the focus is, except that text fields undo their own typing. */
export function useShortcuts(
  store: EditorStore,
  { save, controls, isActive }: { save: () => void; controls: CanvasControls; isActive: boolean },
): void {
  useEffect(() => {
    const pressed = (event: globalThis.KeyboardEvent): void => {
      const key = event.key.toLowerCase();
      if (event.key === 'Escape' && controls.linking !== undefined) controls.link(undefined);
      const isCommand = event.ctrlKey || event.metaKey;
      if (isCommand && key === 's') {
        event.preventDefault();
        save();
        return;
      }
      if (event.key === 'Escape' && event.target instanceof Element && event.target.closest('form'))
        focusTask(store.snapshot().selected[0]);
      if (!isActive || isText(event.target)) return;
      if (!isCommand) {
        const onCanvas =
          event.target === document.body ||
          (event.target instanceof Element && event.target.closest('.react-flow') !== null);
        if (key === 'n' && onCanvas && !event.altKey && !event.defaultPrevented)
          controls.addTask(store.snapshot().selected);
        else if (event.key === 'Escape') store.select([]);
        else return;
      } else if ((key === 'z' && event.shiftKey) || key === 'y') store.redo();
      else if (key === 'z') store.undo();
      else if (key === 'd' && store.snapshot().selected.length > 0) controls.duplicate(store.snapshot().selected);
      else return;
      event.preventDefault();
    };
    window.addEventListener('keydown', pressed);
    return () => window.removeEventListener('keydown', pressed);
  }, [store, save, controls, isActive]);
}
