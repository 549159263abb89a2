import type { KeyboardEvent, ReactNode } from 'react';
import css from './Editor.module.css';
import { EditorChat } from './EditorChat';
import { Selection } from './Selection';
import type { Tab } from './useAddress';
import { useEditor } from './useEditor';
import { Versions } from './Versions';
import { t } from '../../words/t';

/** The task, the chat or the versions, beside the canvas. */
export function SidePanel() {
  const { id, editing, address } = useEditor();
  const { tab, set } = address;
  return (
    <Tabs
      tab={tab}
      first={editing.selected.length > 0 ? t('Task') : t('Workflow')}
      choose={(next) => set({ panel: next === 'task' ? undefined : next })}
    >
      {tab === 'chat' ? <EditorChat key={address.thread} /> : null}
      {tab === 'versions' ? (
        <Versions
          id={id}
          current={editing.base?.version}
          seen={address.version}
          look={(version) => set({ version: version === undefined ? undefined : String(version) })}
        />
      ) : null}
      {tab === 'task' ? <Selection /> : null}
    </Tabs>
  );
}

interface TabsProps {
  tab: Tab;
  /** The name of the first tab. */
  first: string;
  choose: (tab: Tab) => void;
  children: ReactNode;
}

function Tabs({ tab: selected, first, choose, children }: TabsProps) {
  const tabs: [Tab, string][] = [
    ['task', first],
    ['chat', t('Chat')],
    ['versions', t('Versions')],
  ];
  const step = (event: KeyboardEvent, at: number): void => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next = by === undefined ? undefined : tabs[(at + by + tabs.length) % tabs.length];
    if (!next) return;
    choose(next[0]);
    document.getElementById(`tab-${next[0]}`)?.focus();
  };
  return (
    <aside className={css.panel} aria-label={t('Panel')}>
      <div className={css.tabs} role="tablist" aria-label={t('Beside the canvas')}>
        {tabs.map(([tab, name], at) => (
          <button
            key={tab}
            id={`tab-${tab}`}
            type="button"
            role="tab"
            aria-selected={tab === selected}
            aria-controls={tab === selected ? `panel-${tab}` : undefined}
            tabIndex={tab === selected ? 0 : -1}
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
        id={`panel-${selected}`}
        aria-labelledby={`tab-${selected}`}
        data-tab={selected}
      >
        {children}
      </div>
    </aside>
  );
}
