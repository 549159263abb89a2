import { Button } from '@mantine/core';
import { IconGitBranch } from '@tabler/icons-react';
import { useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { post, remove } from '../../api/client';
import type { Thread } from '../../api/types';
import type { Turn } from '../../chat/state';
import { setDraft } from '../../ui/useDraft';
import { chosen, draftName } from './attachments';
import css from './Chat.module.css';
import { COMPOSER } from './Composer';
import type { Outgoing } from './settings';
import { t } from '../../words/t';

export interface Branching {
  /** Whether the next message goes into a branch. */
  isOn: boolean;
  /** Puts the message of a turn into the composer, to be sent in a branch that begins before it. */
  edit: (turn: Turn) => void;
  /** Lets the next message go into this thread. */
  stop: () => void;
  /** Sends a message in a branch, and goes there. */
  send: (message: Outgoing['message']) => Promise<void>;
}

/** The branch that the next message of a thread goes into, after a message of it was taken back into the composer. */
export function useBranching(thread: string): Branching {
  const navigate = useNavigate();
  const [before, setBefore] = useState<string>();
  const edit = ({ id, message, attachments = [] }: Turn): void => {
    setDraft(draftName(thread), { content: message, files: attachments.map(chosen) });
    document.getElementById(COMPOSER)?.focus();
    setBefore(id);
  };
  const stop = (): void => setBefore(undefined);
  const send = async (message: Outgoing['message']): Promise<void> => {
    const { id } = await post<Thread>('/api/threads', { branch_of: { thread_id: thread, before } });
    try {
      await post(`/api/threads/${id}/messages`, message);
    } catch (refused) {
      // Nobody has seen the branch; the message is in the composer still.
      await remove(`/api/threads/${id}`).catch(() => undefined);
      throw refused;
    }
    stop();
    void navigate(`/chat/${id}`);
  };
  return { isOn: before !== undefined, edit, stop, send };
}

/** Says above the composer where the next message goes. */
export function BranchLine({ branching: { isOn, stop } }: { branching: Branching }) {
  return isOn ? (
    <p className={css.branching} role="status">
      <IconGitBranch size={15} aria-hidden />
      {t('It goes into a branch; this chat stays as it is.')}
      <Button size="compact-xs" variant="subtle" onClick={stop}>
        {t('Send it here instead')}
      </Button>
    </p>
  ) : null;
}

/** Leads from a branch to the thread it branched off from. */
export function BranchedOff({ from }: { from: Thread['branchOf'] }) {
  return from ? (
    <Link className={css.branched} to={`/chat/${from.threadId}`}>
      <IconGitBranch size={15} aria-hidden />
      {t('Branched off from another chat')}
    </Link>
  ) : null;
}
