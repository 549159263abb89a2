// Everything the parts of the editor's page share: what is edited, what is watched beside it, and what can be done.

import { notifications } from '@mantine/notifications';
import { createContext, useCallback, useContext, useMemo, useState } from 'react';
import type { SavedWorkflow } from '../../api/types';
import { planUnderWay } from '../../chat/plans';
import type { Plan } from '../../chat/state';
import { type FollowedRun, useRun } from '../../run/useRun';
import { check, type Issue } from '../../workflow/check';
import { toGraph } from '../../workflow/convert';
import { type Graph, variables } from '../../workflow/graph';
import type { Editing, EditorStore } from '../../workflow/store';
import { type Address, useAddress, useLastThread, useVersion } from './useAddress';
import { type CanvasControls, useCanvasControls } from './useCanvasControls';
import { type EditorThread, useEditorThread } from './useEditorThread';
import { useIssues } from './useIssues';
import type { KeptDraft } from './useKeptDraft';
import type { Saving } from './useSaving';
import { useWorkflowActions, type WorkflowActions } from './useWorkflowActions';
import { t } from '../../words/t';

export type Dialog = 'inputs' | 'keys' | 'delete' | 'task';

export interface EditorProps {
  id: string | undefined;
  store: EditorStore;
  editing: Editing;
  saving: Saving;
  draft: KeptDraft;
}

/** An earlier version that is looked at instead of the one being edited. */
export interface ShownVersion {
  workflow: SavedWorkflow;
  graph: Graph;
}

export interface Editor extends EditorProps {
  graph: Graph;
  address: Address;
  issues: Issue[];
  controls: CanvasControls;
  thread: EditorThread;
  /** Begins a new thread with the next message. */
  forgetThread: () => void;
  /** The plan the chat is making now. */
  plan: Plan | undefined;
  /** The run that is watched on the canvas. */
  watched: FollowedRun;
  shownVersion: ShownVersion | undefined;
  /** The reason the wanted version cannot be shown. */
  versionError: Error | null;
  actions: WorkflowActions;
  dialog: Dialog | undefined;
  openDialog: (dialog: Dialog | undefined) => void;
  /** Selects the task an issue is about and opens its form. */
  show: (issue: Pick<Issue, 'task'>) => void;
  save: () => void;
  /** Starts a run, or shows what is missing for one. */
  run: () => void;
  backToEditing: () => void;
}

const EditorContext = createContext<Editor | undefined>(undefined);

export const EditorProvider = EditorContext.Provider;

/** The editor this component is a part of. */
export function useEditor(): Editor {
  const editor = useContext(EditorContext);
  if (!editor) throw new Error('This component is shown inside of the editor only');
  return editor;
}

export function useNewEditor({ id, store, editing, saving, draft }: EditorProps): Editor {
  const graph = editing.history.present;
  const address = useAddress();
  const { set } = address;
  const issues = useIssues(graph);
  const openTask = useCallback(() => set({ panel: undefined }), [set]);
  const controls = useCanvasControls(store, openTask);
  const begun = useCallback((threadId: string) => set({ chat: threadId }), [set]);
  const thread = useEditorThread(store, id, address.thread, begun);
  const forgetThread = useLastThread(id, address);
  const watched = useRun(address.run);
  const { shownVersion, versionError } = useShownVersion(id, address.version, editing.base?.version);
  const actions = useWorkflowActions(id, store, saving);
  const [dialog, openDialog] = useState<Dialog>();
  const show = useCallback(
    ({ task }: Pick<Issue, 'task'>): void => {
      store.select(task === undefined ? [] : [task]);
      openTask();
    },
    [store, openTask],
  );
  const save = (): void => {
    const [first, ...more] = check(store.graph);
    if (!first) return void saving.save();
    show(first);
    const others = more.length > 0 ? t(', and correct {count} more', { count: more.length }) : '';
    const message = t(
      '{message}{others}. The draft stays in this browser; only a workflow without mistakes becomes a version.',
      { message: first.message, others },
    );
    notifications.show({ color: 'yellow', title: t('Kept as a draft'), message });
  };
  const run = (): void => {
    const first = issues[0];
    if (first) show(first);
    else if (variables(graph).length > 0) openDialog('inputs');
    else actions.start.mutate({});
  };
  return {
    id,
    store,
    editing,
    saving,
    draft,
    graph,
    address,
    issues,
    controls,
    thread,
    forgetThread,
    plan: thread.state ? planUnderWay(thread.state) : undefined,
    watched,
    shownVersion,
    versionError,
    actions,
    dialog,
    openDialog,
    show,
    save,
    run,
    backToEditing: () => set({ version: undefined }),
  };
}

function useShownVersion(id: string | undefined, wanted: number | undefined, current: number | undefined) {
  const { seen, error } = useVersion(id, wanted === current ? undefined : wanted);
  const shownVersion = useMemo(() => (seen ? { workflow: seen, graph: toGraph(seen) } : undefined), [seen]);
  return { shownVersion, versionError: error };
}
