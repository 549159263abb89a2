import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconPlus, IconSchema } from '@tabler/icons-react';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { useNavigate } from 'react-router';
import { post, remove } from '../../api/client';
import type { SavedWorkflow } from '../../api/types';
import { planText, planUnderWay } from '../../chat/plans';
import type { Plan } from '../../chat/state';
import { useRun } from '../../run/useRun';
import { ConfirmDelete } from '../../ui/ConfirmDelete';
import { ProblemNote } from '../../ui/Note';
import { useAction } from '../../ui/useAction';
import { check, type Trouble } from '../../workflow/check';
import { toDocument, toGraph, toTasks } from '../../workflow/convert';
import { EMPTY, freeName, type Graph, titleOf, variables } from '../../workflow/graph';
import { arranged, below } from '../../workflow/place';
import type { Editing, EditorStore } from '../../workflow/store';
import { Bar } from './Bar';
import { Canvas } from './Canvas';
import { ERASED, Inputs, Keys, Leaving } from './Dialogs';
import css from './Editor.module.css';
import { EditorChat } from './EditorChat';
import { Chosen, Panel } from './Panel';
import { Conflict, Gone, Old, Watched } from './Strips';
import { changedSearch, useAddress, useLastChat, useVersion } from './useAddress';
import { type Hand, useCanvas, useKeys } from './useCanvas';
import { useConversation } from './useConversation';
import type { Saving } from './useSaving';
import { useTroubles } from './useTroubles';
import { Versions } from './Versions';

interface RoomProps {
  id: string | undefined;
  store: EditorStore;
  editing: Editing;
  saving: Saving;
}

/** The canvas, what is known of it above, the panel beside. */
export function Room({ id, store, editing, saving }: RoomProps) {
  const {
    history: { present: graph },
    chosen,
    fresh,
    base,
    isDirty,
  } = editing;
  const address = useAddress();
  const { set, tab } = address;
  const troubles = useTroubles(graph);
  const openTask = useCallback(() => set({ panel: undefined }), [set]);
  const hand = useCanvas(store, openTask);
  const conversation = useConversation(
    store,
    id,
    address.thread,
    useCallback((thread: string) => set({ chat: thread }), [set]),
  );
  const forget = useLastChat(id, address);
  const { run, detail, problem: unwatched } = useRun(address.run);
  const { seen, error: unseen } = useVersion(id, address.version === base?.version ? undefined : address.version);
  const [dialog, setDialog] = useState<'inputs' | 'keys' | 'erase'>();
  const shut = (): void => setDialog(undefined);
  const show = useCallback(
    ({ task }: Pick<Trouble, 'task'>): void => {
      store.choose(task === undefined ? [] : [task]);
      openTask();
    },
    [store, openTask],
  );
  const save = (): void => {
    const [first, ...more] = check(store.graph);
    if (!first) return void saving.save();
    show(first);
    notifications.show({
      color: 'yellow',
      title: 'Not saved yet',
      message: `${first.message}${more.length > 0 ? `, and mend ${more.length} more` : ''}. Only a workflow without mistakes can be saved.`,
    });
  };
  const { start, copy, erase } = useDeeds(id, store, saving);
  const askRun = (): void => {
    const first = troubles[0];
    if (first) show(first);
    else if (variables(graph).length > 0) setDialog('inputs');
    else start.mutate({});
  };
  useFirstChoice(store, address.task);
  useKeys(store, { save, hand, isActive: seen === undefined });
  const plan = conversation.state ? planUnderWay(conversation.state) : undefined;
  const ghosts = useMemo(() => (plan && plan.tasks.length > 0 ? ghostly(graph, plan) : undefined), [plan, graph]);
  const old = useMemo(() => (seen ? toGraph(seen) : undefined), [seen]);
  const back = (): void => set({ version: undefined });
  return (
    <div className={css.page}>
      <Bar
        store={store}
        editing={editing}
        troubles={troubles}
        isSaving={saving.isSaving}
        isStarting={start.isPending}
        save={save}
        run={askRun}
        show={show}
        tidy={hand.tidy}
        copy={() => copy.mutate()}
        download={() => download(graph)}
        keys={() => setDialog('keys')}
        erase={id === undefined ? undefined : () => setDialog('erase')}
      />
      {saving.isGone ? <Gone again={() => copy.mutate()} /> : null}
      {saving.error ? (
        <div className={css.problem}>
          <ProblemNote what="It was not saved" error={saving.error} />
        </div>
      ) : null}
      {saving.theirs && base ? (
        <Conflict
          base={base}
          theirs={saving.theirs}
          look={() => set({ version: String(saving.theirs?.version), panel: 'versions' })}
          take={() => {
            back();
            saving.takeTheirs();
          }}
          keep={() => {
            back();
            saving.keepMine();
            save();
          }}
        />
      ) : null}
      {unwatched ? (
        <div className={css.problem}>
          <ProblemNote what="The run could not be watched" error={unwatched} />
        </div>
      ) : null}
      {unseen ? (
        <div className={css.problem}>
          <ProblemNote what={`Version ${address.version} could not be shown`} error={unseen} />
          <Button size="xs" variant="default" mt={6} onClick={back}>
            Back to editing
          </Button>
        </div>
      ) : null}
      {run && detail ? (
        <Watched run={run} detail={detail} version={base?.version} close={() => set({ run: undefined })} />
      ) : null}
      {seen && old ? (
        <Old
          seen={seen}
          graph={graph}
          back={back}
          restore={() => {
            store.edit(`restore version ${seen.version}`, () => old);
            back();
          }}
        />
      ) : null}
      <div className={css.split} data-tab={tab}>
        {old ? (
          <Canvas
            key={seen?.version}
            graph={old}
            chosen={NONE}
            fresh={NONE}
            troubles={NO_TROUBLES}
            ghosts={undefined}
            run={run}
            linking={undefined}
            actions={undefined}
          />
        ) : (
          <Canvas
            key="now"
            graph={graph}
            chosen={chosen}
            fresh={fresh}
            troubles={troubles}
            ghosts={ghosts}
            run={run}
            linking={hand.linking}
            actions={hand.actions}
          >
            <Toolbar graph={graph} chosen={chosen} hand={hand} plan={plan} />
            {graph.tasks.length === 0 && !ghosts ? (
              <FirstTask add={() => hand.addTask([])} describe={() => set({ panel: 'chat' })} />
            ) : null}
          </Canvas>
        )}
        <Panel
          tab={tab}
          first={chosen.length > 0 ? 'Task' : 'Workflow'}
          choose={(next) => set({ panel: next === 'task' ? undefined : next })}
        >
          {tab === 'chat' ? (
            <EditorChat
              key={address.thread}
              conversation={conversation}
              threadId={address.thread}
              isEmpty={graph.tasks.length === 0}
              forget={forget}
              put={(planned) => store.put(planned)}
            />
          ) : null}
          {tab === 'versions' ? (
            <Versions
              id={id}
              current={base?.version}
              seen={address.version}
              look={(version) => set({ version: version === undefined ? undefined : String(version) })}
            />
          ) : null}
          {tab === 'task' ? (
            <Chosen store={store} graph={graph} chosen={chosen} troubles={troubles} hand={hand} run={run} />
          ) : null}
        </Panel>
      </div>
      <Inputs graph={graph} opened={dialog === 'inputs'} close={shut} start={(inputs) => start.mutate(inputs)} />
      <Keys opened={dialog === 'keys'} close={shut} />
      <ConfirmDelete
        what={graph.name}
        means={ERASED}
        opened={dialog === 'erase'}
        close={shut}
        confirm={() => {
          shut();
          erase.mutate();
        }}
      />
      <span className="visually-hidden" role="status">
        {fresh.length > 0 ? `Done by ${editing.history.past.at(-1)?.label}` : ''}
      </span>
      {isDirty ? <Leaving store={store} save={saving.save} /> : null}
    </div>
  );
}

const NONE: string[] = [];
const NO_TROUBLES: Trouble[] = [];

/** What leads away from this page, or to another address of it. */
function useDeeds(id: string | undefined, store: EditorStore, saving: Saving) {
  const navigate = useNavigate();
  const start = useAction(
    'Starting the run',
    async (inputs: Record<string, string>) => {
      const { base, isDirty } = store.snapshot();
      const saved = base === undefined || isDirty ? await saving.save() : { id };
      if (!saved?.id) throw new Error('It could not be saved, and only what is saved is run. The page says why.');
      const { runId } = await post<{ runId: string }>(`/api/workflows/${saved.id}/runs`, { inputs });
      return { runId, id: saved.id };
    },
    ({ runId, id: saved }) =>
      navigate(
        { pathname: `/workflows/${saved}`, search: changedSearch(location.search, { run: runId, version: undefined }) },
        { replace: true },
      ),
  );
  const leave = (path: string): void => {
    store.leave();
    void navigate(path);
  };
  const copy = useAction(
    'Saving a copy',
    () => {
      const document = toDocument(store.graph);
      return post<SavedWorkflow>('/api/workflows', {
        ...document,
        name: `${document.name || 'Workflow'} (copy)`.slice(0, 200),
      });
    },
    (saved) => leave(`/workflows/${saved.id}`),
  );
  const erase = useAction(
    'Deleting',
    () => remove(`/api/workflows/${id}`),
    () => leave('/workflows'),
  );
  return { start, copy, erase };
}

/** The task the address names is chosen when the page opens. */
function useFirstChoice(store: EditorStore, position: number): void {
  useEffect(() => {
    const task = store.graph.tasks[position - 1];
    if (task) store.choose([task.id]);
  }, [store]); // oxlint-disable-line react/exhaustive-deps
}

/** Planned tasks, where they will be. */
function ghostly(graph: Graph, { tasks }: Plan): Graph {
  const drawn = arranged({
    ...EMPTY,
    tasks: toTasks(tasks.map((task) => ({ ...task, description: task.description ?? '' }))),
  });
  return {
    ...drawn,
    tasks: below(graph, drawn.tasks).map((task) => ({ ...task, name: task.name && freeName(graph, task.name) })),
  };
}

function download(graph: Graph): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([JSON.stringify(toDocument(graph), null, 2)], { type: 'application/json' }));
  link.download = `${graph.name || 'workflow'}.json`;
  link.click();
  URL.revokeObjectURL(link.href);
}

function Toolbar({
  graph,
  chosen,
  hand,
  plan,
}: {
  graph: Graph;
  chosen: string[];
  hand: Hand;
  plan: Plan | undefined;
}) {
  return (
    <div className={css.float}>
      <Button size="xs" variant="default" leftSection={<IconPlus size={15} />} onClick={() => hand.addTask(chosen)}>
        {chosen.length === 1 ? 'Add a task after it' : 'Add a task'}
      </Button>
      {hand.linking === undefined ? null : (
        <span className={css.linking} role="status">
          Choose the task that reads '{titleOf(graph, hand.linking)}'. Esc stops.
        </span>
      )}
      {plan ? (
        <span className={css.planning} role="status">
          {planText(plan)}
        </span>
      ) : null}
    </div>
  );
}

function FirstTask({ add, describe }: { add: () => void; describe: () => void }) {
  return (
    <div className={css.first}>
      <IconSchema size={30} stroke={1.4} aria-hidden />
      <h2>An empty canvas</h2>
      <p>
        Draw a graph of tasks: each is done by an agent and may read what others came to. Or say what you want, and it
        is drawn for you.
      </p>
      <div>
        <Button size="xs" onClick={describe}>
          Describe it
        </Button>
        <Button size="xs" variant="default" onClick={add}>
          Add the first task
        </Button>
      </div>
    </div>
  );
}
