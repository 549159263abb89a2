import { useEffect } from 'react';
import type { TaskDocument } from '../../api/types';
import { toDocument, toTasks } from '../../workflow/convert';
import type { Task } from '../../workflow/graph';
import { below } from '../../workflow/place';
import type { EditorStore } from '../../workflow/store';
import { isText } from './focus';
import { plural } from '../../words/t';

/** Marks copied tasks on the clipboard. */
const KIND = 'consort/tasks';

/** Copies the selected tasks as text and pastes them, here or into another workflow. */
export function useClipboard(store: EditorStore, put: (tasks: readonly Task[], label: string) => void): void {
  useEffect(() => {
    const copied = (event: ClipboardEvent): void => {
      const { selected } = store.snapshot();
      if (selected.length === 0 || isText(event.target) || getSelection()?.toString()) return;
      const { graph } = store;
      const part = {
        ...graph,
        tasks: graph.tasks
          .filter(({ id }) => selected.includes(id))
          .map((task) => ({ ...task, reads: task.reads.filter((id) => selected.includes(id)) })),
      };
      event.clipboardData?.setData('text/plain', JSON.stringify({ kind: KIND, tasks: toDocument(part).tasks }));
      event.preventDefault();
    };
    const pasted = (event: ClipboardEvent): void => {
      if (isText(event.target)) return;
      const text = event.clipboardData?.getData('text/plain') ?? '';
      if (!text.startsWith(`{"kind":"${KIND}"`)) return;
      const { tasks } = JSON.parse(text) as { tasks: TaskDocument[] };
      put(below(store.graph, toTasks(tasks)), plural(tasks.length, 'paste {n} task', 'paste {n} tasks'));
      event.preventDefault();
    };
    document.addEventListener('copy', copied);
    document.addEventListener('paste', pasted);
    return () => {
      document.removeEventListener('copy', copied);
      document.removeEventListener('paste', pasted);
    };
  }, [store, put]);
}
