import { useEffect, useMemo, useState } from 'react';
import type { Problem } from '../../api/client';
import { ChatSocket } from '../../chat/socket';
import { plannedGraph } from '../../chat/plans';
import type { ThreadState } from '../../chat/state';
import { useThread } from '../../chat/useThread';
import type { EditorStore } from '../../workflow/store';
import { MANIFEST } from '../../workflow/tools';
import type { Message } from '../chat/settings';

/** The storage of the turns this tab has begun: their calls are made here and in no other tab. */
const OWN_TURNS = 'consort.editor.turns';
const OWN_TURNS_MAX = 20;

function rememberedTurns(): string[] {
  try {
    return JSON.parse(sessionStorage.getItem(OWN_TURNS) ?? '[]') as string[];
  } catch {
    return [];
  }
}

export interface EditorThread {
  id: string | undefined;
  state: ThreadState | undefined;
  problem: Problem | undefined;
  send: (message: Message) => Promise<{ turnId: string }>;
}

/** The thread beside the canvas. Its calls are made on the canvas as they come. */
export function useEditorThread(
  store: EditorStore,
  workflowId: string | undefined,
  threadId: string | undefined,
  begun: (thread: string) => void,
): EditorThread {
  const socket = useMemo(() => new ChatSocket(MANIFEST), []);
  useEffect(() => {
    socket.open();
    return () => socket.close();
  }, [socket]);
  const { state, problem } = useThread(threadId);
  const [ownTurns, setOwnTurns] = useState(rememberedTurns);
  useEffect(() => {
    if (!state || threadId === undefined) return;
    const turns = state.turns.filter(({ id, isOver }) => !isOver && ownTurns.includes(id));
    for (const turn of turns) {
      for (const { tool_call_id: call, name, args } of turn.clientCalls) {
        if (!store.isNew(`${turn.id}/${call}`)) continue;
        const { result, isError } = store.call(name, args, (reference) => plannedGraph(state, reference));
        socket.answer(threadId, call, result, isError);
      }
    }
    socket.keepResults(turns.flatMap(({ clientCalls }) => clientCalls.map((call) => call.tool_call_id)));
  }, [state, threadId, ownTurns, store, socket]);
  const send = async (message: Message): Promise<{ turnId: string }> => {
    const context = { kind: 'editor', ...(workflowId === undefined ? {} : { workflowId }) };
    const { thread_id, turn_id } = await socket.send({
      ...message,
      chat_context: context,
      ...(threadId === undefined ? {} : { thread_id: threadId }),
    });
    const turns = [...rememberedTurns(), turn_id].slice(-OWN_TURNS_MAX);
    sessionStorage.setItem(OWN_TURNS, JSON.stringify(turns));
    setOwnTurns(turns);
    if (threadId === undefined) begun(thread_id);
    return { turnId: turn_id };
  };
  return { id: threadId, state, problem, send };
}
