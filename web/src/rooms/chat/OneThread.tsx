import { Skeleton } from '@mantine/core';
import { IconChevronLeft, IconMessageCircle } from '@tabler/icons-react';
import { useRef } from 'react';
import { Link, useNavigate } from 'react-router';
import { patch, post } from '../../api/client';
import type { Said, Thread } from '../../api/types';
import type { Mode } from '../../chat/frame';
import type { Turn } from '../../chat/state';
import { useThread } from '../../chat/useThread';
import { Empty, ProblemNote } from '../../ui/Note';
import { useAction } from '../../ui/useAction';
import { setDraft } from '../../ui/useDraft';
import { useFollowing } from '../../ui/useFollowing';
import css from './Chat.module.css';
import { Composer, draftName, MODES } from './Composer';
import { Grants } from './Grants';
import { JumpToLatest } from './JumpToLatest';
import { type Message, useMessage } from './settings';
import type { TurnDeeds } from './TurnActions';
import { useSendMessage } from './useSendMessage';
import { TurnView } from './TurnView';
import { Turns, useQueued } from './Turns';

/** Turns shown before older ones are asked for. */
const SHOWN = 30;
const NO_TURNS: Turn[] = [];

/** A thread that does not exist yet: it begins with its first message. */
export function NewThread() {
  const navigate = useNavigate();
  // A thread whose first message was refused takes the next one.
  const begun = useRef<string>(undefined);
  const begin = useSendMessage(async (message: Message) => {
    begun.current ??= (await post<Thread>('/api/threads')).id;
    await post(`/api/threads/${begun.current}/messages`, message);
    void navigate(`/chat/${begun.current}`);
  });
  return (
    <div className={css.thread}>
      <div className={css.talk}>
        <div className={`${css.inner} ${css.hello}`}>
          <Empty icon={IconMessageCircle} title="What can be done for you?">
            <p>
              Ask, or describe a task. It calls tools, splits work into subtasks that run side by side, and asks you
              before it does anything with an effect outside the workspace.
            </p>
          </Empty>
        </div>
      </div>
      <Composer
        isRunning={false}
        isSending={begin.isPending}
        thread="new"
        send={begin.mutateAsync}
        stop={() => undefined}
      />
    </div>
  );
}

export function OneThread({ id }: { id: string }) {
  const { state, problem } = useThread(id);
  const turns = state?.turns ?? NO_TURNS;
  const [queued, addQueued] = useQueued(turns);
  const { box, inner, scrolled, isFollowing, follow } = useFollowing();
  const send = useSendMessage(async (message: Message) => {
    const { turnId } = await post<Said>(`/api/threads/${id}/messages`, message);
    addQueued({ turnId, content: message.content });
    follow();
  });
  const messageOf = useMessage();
  const again = useAction('Asking again', (content: string) => send.mutateAsync(messageOf(content)));
  const deeds: TurnDeeds = {
    edit: (content) => {
      setDraft(draftName(id), { content });
      document.querySelector<HTMLElement>('textarea[aria-label="Message"]')?.focus();
    },
    again: again.mutate,
  };
  const continueTurn = useAction('Continuing', () => post(`/api/threads/${id}/continue`));
  const stop = useAction('Stopping', () => post(`/api/threads/${id}/stop`));
  const setMode = useAction('Changing the mode', async (wanted: Mode) => {
    const { permissionMode } = await patch<Thread>(`/api/threads/${id}`, { permission_mode: wanted });
    if (permissionMode && permissionMode !== wanted)
      throw new Error(`This server allows “${MODES.find(({ value }) => value === permissionMode)?.label}” at most.`);
  });
  const running = turns.findLast((turn) => !turn.isOver);
  if (problem) {
    return (
      <div className={css.thread}>
        <div className={css.inner}>
          <ProblemNote what="The conversation could not be opened" error={problem} />
          <Link to="/chat">All conversations</Link>
        </div>
      </div>
    );
  }
  return (
    <div className={css.thread}>
      <Link className={css.back} to="/chat">
        <IconChevronLeft size={15} aria-hidden />
        All conversations
      </Link>
      <Grants thread={id} />
      <div
        className={css.talk}
        ref={box}
        onScroll={scrolled}
        tabIndex={0}
        role="log"
        aria-label="Conversation"
        aria-live="off"
      >
        <div className={css.inner} ref={inner}>
          {state ? null : <Skeleton height={120} />}
          <Turns turns={turns} queued={queued} step={SHOWN}>
            {(turn) => (
              <TurnView
                key={turn.id}
                turn={turn}
                deeds={deeds}
                continueTurn={turn === turns.at(-1) ? () => continueTurn.mutate() : undefined}
              />
            )}
          </Turns>
        </div>
        <JumpToLatest isFollowing={isFollowing} follow={follow} />
      </div>
      <Composer
        isRunning={running !== undefined}
        isSending={send.isPending}
        thread={id}
        send={send.mutateAsync}
        stop={() => stop.mutate()}
        setTurnMode={(mode) => setMode.mutate(mode)}
      />
    </div>
  );
}
