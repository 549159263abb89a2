import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef } from 'react';
import { Link } from 'react-router';
import type { Conversation, RunState } from '../../../run/state';
import { instanceName } from '../../../run/words';
import { count } from '../../../ui/format';
import { grouped } from '../../../ui/grouped';
import { type ShownStatus, StatusIcon } from '../../../ui/Status';
import css from './Conversation.module.css';
import { t } from '../../../words/t';

interface Entry {
  id: string;
  name: string;
  depth: number;
  status: ShownStatus;
  tokens: number;
}

/** Every conversation of the run, subtasks below what asked for them. */
export function ConversationList({ run, chosen }: { run: RunState; chosen: string }) {
  const scroller = useRef<HTMLElement>(null);
  const entries = useMemo(() => listed(run), [run]);
  const virtual = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 31,
    overscan: 10,
  });
  return (
    <nav className={css.list} ref={scroller} aria-label={t('Conversations')}>
      <div className={css.plane} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const entry = entries[index];
          if (!entry) return null;
          const { id, name, depth, status, tokens } = entry;
          return (
            <Link
              key={id}
              to={`?turn=${id}`}
              replace
              className={css.entry}
              aria-current={id === chosen}
              data-idle={status === 'PENDING' || undefined}
              style={{ position: 'absolute', insetInline: 0, top: start, paddingLeft: 8 + 14 * depth }}
            >
              <StatusIcon status={status} size={14} />
              <span title={name}>{name}</span>
              {tokens > 0 ? <small>{t('{value} tokens', { value: count(tokens) })}</small> : null}
            </Link>
          );
        })}
      </div>
    </nav>
  );
}

function listed(run: RunState): Entry[] {
  const below = grouped(run.conversations.values(), ({ parent }) => parent);
  const nested = (parent: string, depth: number): Entry[] =>
    (below.get(parent) ?? []).flatMap((conversation) => [
      entryOf(conversation, depth),
      ...nested(conversation.id, depth + 1),
    ]);
  return run.tasks.flatMap(({ index, name, status, tokens, instances = [] }) => [
    { id: String(index), name, depth: 0, status, tokens },
    ...(instances.length > 0
      ? instances.flatMap((each) => [
          { id: each.id, name: instanceName(each), depth: 1, status: each.status, tokens: each.tokens },
          ...nested(each.id, 2),
        ])
      : nested(String(index), 1)),
  ]);
}

function entryOf({ id, title, phase, inputTokens, outputTokens }: Conversation, depth: number): Entry {
  return {
    id,
    name: title,
    depth,
    status: phase.kind === 'over' ? 'COMPLETED' : 'RUNNING',
    tokens: inputTokens + outputTokens,
  };
}
