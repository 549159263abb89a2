import { Button } from '@mantine/core';
import { IconArrowDown, IconMessages } from '@tabler/icons-react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import { activityText } from '../../../run/activity';
import { isInstance, taskNumber } from '../../../run/ids';
import { conversationOf } from '../../../run/instances';
import type { Conversation, RunState } from '../../../run/state';
import { HeadingLevel } from '../../../ui/headings';
import { Empty } from '../../../ui/Note';
import { useParamsInAddress } from '../../../ui/useParamsInAddress';
import type { TabProps } from '../Run';
import css from './Conversation.module.css';
import { ItemView } from './ItemView';
import { ConversationList } from './ConversationList';
import { t } from '../../../words/t';

/** The distance from the end within which a reader is at the end. */
const END_PX = 60;

/** The messages each task sent to its model, and the answers. */
export default function ConversationTab({ run }: TabProps) {
  const [params] = useParamsInAddress();
  const wanted = params.get('turn') ?? params.get('task') ?? liveliest(run);
  const title = titleOf(run, wanted);
  const conversation = run.conversations.get(wanted);
  const seq = Number(params.get('seq') ?? -1);
  return (
    <HeadingLevel value={2}>
      <div className={css.split}>
        <ConversationList run={run} chosen={wanted} />
        {conversation ? (
          <Talk key={wanted} run={run} conversation={conversation} title={title} seq={seq} />
        ) : (
          <Silent run={run} wanted={wanted} />
        )}
      </div>
    </HeadingLevel>
  );
}

/** The task a person most likely wants to see. */
function liveliest(run: RunState): string {
  const active = [...run.conversations.values()].find(
    ({ id, phase, parent }) => phase.kind !== 'over' && (parent === undefined || isInstance(id)),
  );
  const failed = run.tasks.find((task) => task.status === 'FAILED');
  const told = failed ?? run.tasks.findLast((task) => task.startedAt);
  return active?.id ?? (told ? (conversationOf(run, told)?.id ?? String(told.index)) : '1');
}

function Silent({ run, wanted }: { run: RunState; wanted: string }) {
  const task = run.tasks[taskNumber(wanted) - 1];
  const why =
    task?.instances && task.instances.length > 0 && !isInstance(wanted)
      ? t('It is done several times: choose an item or a round in the list.')
      : task?.startedAt && run.first > 0
        ? t('It took place before the events shown. Show earlier ones to read it.')
        : t('It has not been asked anything yet.');
  return (
    <div className={css.talk}>
      <Empty icon={IconMessages} title={task ? t('Nothing from {name} here', { name: task.name }) : t('No such task')}>
        <p>{why}</p>
      </Empty>
    </div>
  );
}

/** The name of a conversation; an instance of a task is told with the task. */
function titleOf(run: RunState, id: string): string {
  const title = run.conversations.get(id)?.title ?? '';
  return isInstance(id) ? `${run.tasks[taskNumber(id) - 1]?.name ?? ''}, ${title}` : title;
}

interface TalkProps {
  run: RunState;
  conversation: Conversation;
  title: string;
  seq: number;
}

function Talk({ run, conversation, title, seq }: TalkProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [atEnd, setAtEnd] = useState(seq < 0 && conversation.phase.kind !== 'over');
  const virtual = useVirtualizer({
    count: conversation.items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 180,
    getItemKey: (index) => conversation.items[index]?.seq ?? index,
    overscan: 4,
    paddingStart: 16,
  });
  const marked = conversation.items.findLastIndex((item) => item.seq <= seq);
  useEffect(() => {
    if (seq >= 0 && marked >= 0) virtual.scrollToIndex(marked, { align: 'start' });
    // Only when the link is followed: later events must not move the page.
  }, [seq]); // oxlint-disable-line react/exhaustive-deps
  useEffect(() => {
    const box = scroller.current;
    if (atEnd && box) box.scrollTop = box.scrollHeight;
  });
  const scrolled = (): void => {
    const box = scroller.current;
    if (box) setAtEnd(box.scrollHeight - box.scrollTop - box.clientHeight < END_PX);
  };
  const toEnd = (): void => {
    setAtEnd(true);
    virtual.scrollToIndex(conversation.items.length - 1, { align: 'end' });
  };
  return (
    <div
      className={css.talk}
      ref={scroller}
      onScroll={scrolled}
      tabIndex={0}
      role="log"
      aria-label={t('Conversation of {title}', { title })}
      aria-live="off"
    >
      <div className={css.inner} style={{ paddingTop: 0 }}>
        <div className={css.plane} style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ key, index, start }) => {
            const item = conversation.items[index];
            return item ? (
              <div
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                className={css.item}
                style={{ transform: `translateY(${start}px)` }}
              >
                <ItemView run={run} item={item} isMarked={index === marked && seq >= 0} />
              </div>
            ) : null;
          })}
        </div>
        {conversation.phase.kind === 'over' ? null : (
          <p className={css.waiting}>
            {title} {activityText(conversation)}
          </p>
        )}
      </div>
      {atEnd || conversation.phase.kind === 'over' ? null : (
        <div className={css.follow}>
          <Button size="xs" radius="xl" leftSection={<IconArrowDown size={14} />} onClick={toEnd}>
            {t('Follow')}
          </Button>
        </div>
      )}
    </div>
  );
}
