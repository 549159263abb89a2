import { Button } from '@mantine/core';
import { IconPencilPlus } from '@tabler/icons-react';
import { useCallback } from 'react';
import { post } from '../../api/client';
import type { WorkflowDocument } from '../../api/types';
import { isOnCanvas } from '../../chat/plans';
import type { Turn } from '../../chat/state';
import { ProblemNote } from '../../ui/Note';
import { useAction } from '../../ui/useAction';
import { useFollowing } from '../../ui/useFollowing';
import { Composer } from '../chat/Composer';
import { FollowedLog } from '../chat/FollowedLog';
import { useSendMessage } from '../chat/useSendMessage';
import { Turns, useQueued } from '../chat/Turns';
import { PutPlan, TurnView } from '../chat/TurnView';
import css from './Editor.module.css';
import { useEditor } from './useEditor';
import { t } from '../../words/t';

/** Turns shown before older ones are asked for. */
const SHOWN = 20;
const NO_TURNS: Turn[] = [];

const EMPTY_CANVAS = [
  t('Build a workflow that researches tea, researches coffee, compares both and writes a report'),
  t('Build a workflow that reads {input}, searches the web and writes an answer', { input: '{question}' }),
];
const DRAWN = [
  t('List the tasks'),
  t('Add a step that checks the facts'),
  t('Add a step that translates the result into German'),
];

/** The chat beside the canvas. What it changes there can be undone there. */
export function EditorChat() {
  const { store, graph, thread, forgetThread } = useEditor();
  const { id: threadId, state, problem } = thread;
  const turns = state?.turns ?? NO_TURNS;
  const [queued, addQueued] = useQueued(turns);
  const following = useFollowing();
  const send = useSendMessage(async ({ message, attached }) => {
    const { turnId } = await thread.send(message);
    addQueued({ turnId, content: message.content, attached });
    following.follow();
  });
  const suggest = useAction(t('Sending'), (content: string) =>
    send.mutateAsync({ message: { content }, attached: [] }),
  );
  const stop = useAction(t('Stopping'), () => post(`/api/threads/${threadId}/stop`));
  const putOnCanvas = useCallback((plan: WorkflowDocument) => store.put(plan), [store]);
  const running = turns.findLast((turn) => !turn.isOver);
  const examples = graph.tasks.length === 0 ? EMPTY_CANVAS : DRAWN;
  return (
    <div className={css.chat}>
      {threadId === undefined ? null : (
        <div className={css.again}>
          <Button size="compact-xs" variant="default" leftSection={<IconPencilPlus size={13} />} onClick={forgetThread}>
            {t('New chat')}
          </Button>
        </div>
      )}
      <FollowedLog following={following} look={{ box: css.talk, inner: css.turns }}>
        {problem ? <ProblemNote what={t('The chat could not be opened')} error={problem} /> : null}
        {turns.length === 0 && queued.length === 0 && !problem ? (
          <div className={css.invite}>
            <h3>{t('Describe what you want')}</h3>
            <p className={css.hint}>
              {t('It plans the tasks and draws them here, or changes what is drawn.')}{' '}
              {t('Nothing is saved until you save, and every change can be undone.')}
            </p>
            {examples.map((text) => (
              <button key={text} type="button" disabled={send.isPending} onClick={() => suggest.mutate(text)}>
                {text}
              </button>
            ))}
          </div>
        ) : null}
        <Turns turns={turns} queued={queued} step={SHOWN}>
          {(turn) => (
            <PutPlan key={turn.id} value={turn.isOver && !isOnCanvas(turn) ? putOnCanvas : undefined}>
              <TurnView turn={turn} />
            </PutPlan>
          )}
        </Turns>
      </FollowedLog>
      <Composer
        isRunning={running !== undefined}
        isSending={send.isPending}
        thread={threadId ?? 'a new workflow chat'}
        send={send.mutateAsync}
        stop={() => stop.mutate()}
      />
    </div>
  );
}
