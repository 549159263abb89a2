import { Button } from '@mantine/core';
import type { KeyboardEvent, ReactNode } from 'react';
import type { RunState } from '../../run/state';
import type { Trouble } from '../../workflow/check';
import { givenNames } from '../../workflow/convert';
import { find, type Graph, titleOf } from '../../workflow/graph';
import type { EditorStore } from '../../workflow/store';
import { AboutForm } from './AboutForm';
import css from './Editor.module.css';
import { RunTask } from './RunTask';
import { TaskForm } from './TaskForm';
import type { Tab } from './useAddress';
import type { Hand } from './useCanvas';

interface PanelProps {
  tab: Tab;
  /** What the first tab is about. */
  first: string;
  choose: (tab: Tab) => void;
  children: ReactNode;
}

/** What stands beside the canvas, one thing at a time. */
export function Panel({ tab: chosen, first, choose, children }: PanelProps) {
  const tabs: [Tab, string][] = [
    ['task', first],
    ['chat', 'Chat'],
    ['versions', 'Versions'],
  ];
  const step = (event: KeyboardEvent, at: number): void => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next = by === undefined ? undefined : tabs[(at + by + tabs.length) % tabs.length];
    if (!next) return;
    choose(next[0]);
    document.getElementById(`tab-${next[0]}`)?.focus();
  };
  return (
    <aside className={css.panel} aria-label="Panel">
      <div className={css.tabs} role="tablist" aria-label="Beside the canvas">
        {tabs.map(([tab, name], at) => (
          <button
            key={tab}
            id={`tab-${tab}`}
            type="button"
            role="tab"
            aria-selected={tab === chosen}
            aria-controls={tab === chosen ? `panel-${tab}` : undefined}
            tabIndex={tab === chosen ? 0 : -1}
            onClick={() => choose(tab)}
            onKeyDown={(event) => step(event, at)}
          >
            {name}
          </button>
        ))}
      </div>
      <div
        className={css.inside}
        role="tabpanel"
        id={`panel-${chosen}`}
        aria-labelledby={`tab-${chosen}`}
        data-tab={chosen}
      >
        {children}
      </div>
    </aside>
  );
}

interface ChosenProps {
  store: EditorStore;
  graph: Graph;
  chosen: string[];
  troubles: readonly Trouble[];
  hand: Hand;
  run: RunState | undefined;
}

/** The task that is chosen; the workflow when none is. */
export function Chosen({ store, graph, chosen, troubles, hand, run }: ChosenProps) {
  const task = chosen.length === 1 ? find(graph, chosen[0] ?? '') : undefined;
  if (chosen.length > 1) {
    return (
      <div className={css.form}>
        <p>
          {chosen.length} tasks are chosen: {chosen.map((id) => titleOf(graph, id)).join(', ')}.
        </p>
        <Button size="xs" variant="default" onClick={() => hand.duplicate(chosen)}>
          Duplicate them
        </Button>
        <Button size="xs" variant="subtle" color="red" onClick={() => hand.removeTasks(chosen)}>
          Remove them
        </Button>
      </div>
    );
  }
  if (!task) return <AboutForm store={store} graph={graph} troubles={troubles} />;
  const name = givenNames(graph.tasks)[graph.tasks.indexOf(task)];
  const ran = run?.tasks.find((each) => each.name === name);
  return (
    <>
      {run && ran ? <RunTask run={run} task={ran} /> : null}
      <TaskForm
        key={task.id}
        store={store}
        graph={graph}
        task={task}
        troubles={troubles}
        isNew={hand.added === task.id}
        duplicate={() => hand.duplicate([task.id])}
        remove={() => hand.removeTasks([task.id])}
        link={() => hand.link(task.id)}
      />
    </>
  );
}
