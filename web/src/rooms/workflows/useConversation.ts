import { useEffect, useMemo, useState } from 'react';
import type { Problem } from '../../api/client';
import { ChatSocket } from '../../chat/socket';
import { plannedGraph } from '../../chat/plans';
import type { ThreadState } from '../../chat/state';
import { useThread } from '../../chat/useThread';
import type { EditorStore } from '../../workflow/store';
import { MANIFEST } from '../../workflow/tools';
import type { Message } from '../chat/Composer';

/** Turns this tab has begun; their calls are made here and in no other tab. */
const MINE = 'consort.editor.turns';
const MINE_MAX = 20;

function remembered(): string[] {
  try {
    return JSON.parse(sessionStorage.getItem(MINE) ?? '[]') as string[];
  } catch {
    return [];
  }
}

export interface Conversation {
  state: ThreadState | undefined;
  problem: Problem | undefined;
  say: (message: Message) => Promise<{ turnId: string }>;
}

/** The conversation beside the canvas: what it says, and its calls made on the canvas as they come. */
export function useConversation(
  store: EditorStore,
  workflowId: string | undefined,
  threadId: string | undefined,
  begun: (thread: string) => void,
): Conversation {
  const socket = useMemo(() => new ChatSocket(MANIFEST), []);
  useEffect(() => {
    socket.open();
    return () => socket.close();
  }, [socket]);
  const { state, problem } = useThread(threadId);
  const [mine, setMine] = useState(remembered);
  useEffect(() => {
    if (!state || threadId === undefined) return;
    const turns = state.turns.filter(({ id, isOver }) => !isOver && mine.includes(id));
    for (const turn of turns) {
      for (const { tool_call_id: call, name, args } of turn.clientCalls) {
        if (!store.isNew(`${turn.id}/${call}`)) continue;
        const { result, isError } = store.call(name, args, (reference) => plannedGraph(state, reference));
        socket.answer(threadId, call, result, isError);
      }
    }
    socket.keepResults(turns.flatMap(({ clientCalls }) => clientCalls.map((call) => call.tool_call_id)));
  }, [state, threadId, mine, store, socket]);
  const say = async (message: Message): Promise<{ turnId: string }> => {
    const context = { kind: 'editor', ...(workflowId === undefined ? {} : { workflowId }) };
    const { thread_id, turn_id } = await socket.send({
      ...message,
      chat_context: context,
      ...(threadId === undefined ? {} : { thread_id: threadId }),
    });
    const turns = [...remembered(), turn_id].slice(-MINE_MAX);
    sessionStorage.setItem(MINE, JSON.stringify(turns));
    setMine(turns);
    if (threadId === undefined) begun(thread_id);
    return { turnId: turn_id };
  };
  return { state, problem, say };
}
