import { Skeleton } from '@mantine/core';
import { IconChevronLeft, IconMessageCircle } from '@tabler/icons-react';
import { useRef } from 'react';
import { Link, useNavigate } from 'react-router';
import { patch, post, Problem } from '../../api/client';
import { useRefusal } from '../../api/me';
import type { Said as SaidAnswer, Thread } from '../../api/types';
import type { Mode } from '../../chat/frame';
import type { Turn } from '../../chat/state';
import { useThread } from '../../chat/useThread';
import { DropArea } from '../../ui/DropArea';
import { Empty, ProblemNote } from '../../ui/Note';
import { useAction } from '../../ui/useAction';
import { useFollowing } from '../../ui/useFollowing';
import { BranchedOff, BranchLine, useBranching } from './Branching';
import css from './Chat.module.css';
import { attach } from './attachments';
import { Composer, MODES } from './Composer';
import { FollowedLog } from './FollowedLog';
import { Grants } from './Grants';
import { type Outgoing, useMessage } from './settings';
import type { TurnDeeds } from './TurnActions';
import { useSendMessage } from './useSendMessage';
import { TurnView } from './TurnView';
import { Turns, useQueued } from './Turns';
import { Said } from '../../words/Said';
import { t } from '../../words/t';

/** Turns shown before older ones are asked for. */
const SHOWN = 30;
const NO_TURNS: Turn[] = [];

/** A thread that does not exist yet: it begins with its first message. */
export function NewThread() {
  const navigate = useNavigate();
  // A thread whose first message was refused takes the next one.
  const begun = useRef<string>(undefined);
  const begin = useSendMessage(async ({ message }) => {
    begun.current ??= (await post<Thread>('/api/threads')).id;
    await post(`/api/threads/${begun.current}/messages`, message);
    void navigate(`/chat/${begun.current}`);
  });
  const take = useTaking('new');
  return (
    <DropArea className={css.thread} says={t('Attach to the message')} take={take}>
      <div className={css.talk}>
        <div className={`${css.inner} ${css.hello}`}>
          <Empty icon={IconMessageCircle} title={t('What would you like to do?')}>
            <p>
              {t(
                'Ask, or describe a task. The assistant calls tools, and splits work into subtasks that run side by side.',
              )}{' '}
              {t('Before it does anything with an effect outside the workspace, it asks you.')}
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
    </DropArea>
  );
}

export function OneThread({ id }: { id: string }) {
  const { state, problem, branchOf } = useThread(id);
  const branching = useBranching(id);
  const turns = state?.turns ?? NO_TURNS;
  const [queued, addQueued] = useQueued(turns);
  const following = useFollowing();
  const say = async ({ message, attached }: Outgoing): Promise<void> => {
    const { turnId } = await post<SaidAnswer>(`/api/threads/${id}/messages`, message);
    addQueued({ turnId, content: message.content, attached });
    following.follow();
  };
  const send = useSendMessage((outgoing) => (branching.isOn ? branching.send(outgoing.message) : say(outgoing)));
  const messageOf = useMessage();
  const again = useAction(t('Regenerating'), ({ message, attachments = [] }: Turn) =>
    say({ message: messageOf(message, attachments), attached: attachments }),
  );
  const deeds: TurnDeeds = { edit: branching.edit, again: again.mutate };
  const continueTurn = useAction(t('Continuing'), () => post(`/api/threads/${id}/continue`));
  const stop = useAction(t('Stopping'), () => post(`/api/threads/${id}/stop`));
  const setMode = useAction(t('Changing the mode'), async (wanted: Mode) => {
    const { permissionMode } = await patch<Thread>(`/api/threads/${id}`, { permission_mode: wanted });
    if (permissionMode && permissionMode !== wanted)
      throw new Error(
        t('This server allows “{label}” at most.', {
          label: MODES.find(({ value }) => value === permissionMode)?.label ?? permissionMode,
        }),
      );
  });
  const take = useTaking(id);
  const running = turns.findLast((turn) => !turn.isOver);
  if (problem) {
    return (
      <div className={css.thread}>
        <div className={css.inner}>
          <Refused problem={problem} id={id} />
        </div>
      </div>
    );
  }
  return (
    <DropArea className={css.thread} says={t('Attach to the message')} take={take}>
      <Link className={css.back} to="/chat">
        <IconChevronLeft size={15} aria-hidden />
        {t('All chats')}
      </Link>
      <Grants thread={id} />
      <FollowedLog following={following} look={{ box: css.talk, inner: css.inner }}>
        {state ? null : <Skeleton height={120} />}
        <BranchedOff from={branchOf} />
        <Turns turns={turns} queued={queued} step={SHOWN}>
          {(turn) => (
            <TurnView
              key={turn.id}
              turn={turn}
              deeds={turn.isEarlier ? undefined : deeds}
              continueTurn={turn === turns.at(-1) ? () => continueTurn.mutate() : undefined}
            />
          )}
        </Turns>
      </FollowedLog>
      <BranchLine branching={branching} />
      <Composer
        isRunning={running !== undefined}
        isSending={send.isPending}
        thread={id}
        send={send.mutateAsync}
        stop={() => stop.mutate()}
        setTurnMode={(mode) => setMode.mutate(mode)}
      />
    </DropArea>
  );
}

/** The reason why a chat cannot be shown. */
function Refused({ problem, id }: { problem: Error; id: string }) {
  const all = <Link to="/chat">{t('All chats')}</Link>;
  if (!(problem instanceof Problem) || problem.code !== 'THREAD_NOT_FOUND') {
    return (
      <>
        <ProblemNote what={t('The chat could not be opened')} error={problem} />
        {all}
      </>
    );
  }
  return (
    <Empty icon={IconMessageCircle} title={t('There is no such chat')}>
      <p>
        <Said of="{code} does not exist, or has been deleted. {link}" code={<code>{id}</code>} link={all} />
      </p>
    </Empty>
  );
}

/** Attaches dropped files to the next message of a thread, where the key may send one. */
function useTaking(thread: string): ((files: File[]) => void) | undefined {
  const refusal = useRefusal('run');
  return refusal === undefined ? (files) => attach(thread, files) : undefined;
}
