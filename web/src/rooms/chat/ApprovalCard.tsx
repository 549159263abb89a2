import { Button, Textarea } from '@mantine/core';
import { type KeyboardEvent, useRef, useState } from 'react';
import { post } from '../../api/client';
import { useRefusal } from '../../api/me';
import type { Approval } from '../../chat/frame';
import { ActButton } from '../../ui/Act';
import { Json } from '../../ui/Json';
import { Countdown } from '../../ui/Time';
import { useAction } from '../../ui/useAction';
import { useKeys } from '../../ui/useKeys';
import css from './Chat.module.css';
import { OtherArguments } from './OtherArguments';
import { Why } from './Why';
import { t } from '../../words/t';
import { Said } from '../../words/Said';

type Answer = 'allow' | 'allow_for_chat' | 'deny';

interface ApprovalCardProps {
  approval: Approval;
  /** Whether keys decide it: the first of several. */
  hasKeys: boolean;
}

/** A call that waits for a person, with exactly what it would be called with. */
export function ApprovalCard({ approval, hasKeys }: ApprovalCardProps) {
  const here = useRef<HTMLDivElement>(null);
  const [shown, setShown] = useState<'question' | 'denial' | 'arguments'>('question');
  const refusal = useRefusal('review');
  const decide = useAction(t('Deciding'), (decision: Answer) =>
    post(`/api/approvals/${approval.approval_id}`, { decision }),
  );
  const isOpen = !decide.isPending && !decide.isSuccess && shown === 'question';
  useKeys(
    here,
    hasKeys && isOpen && refusal === undefined
      ? {
          y: () => decide.mutate('allow'),
          c: () => decide.mutate('allow_for_chat'),
          n: () => setShown('denial'),
          e: () => setShown('arguments'),
        }
      : {},
  );
  return (
    <div
      className={css.approval}
      ref={here}
      role="alertdialog"
      aria-label={t('May {tool_name} be called?', { tool_name: approval.tool_name })}
    >
      <header>
        <span>
          <Said of="May {code} be called with these arguments?" code={<code>{approval.tool_name}</code>} />
        </span>
        {approval.expires_at ? (
          <span>
            <Said of="denied in {time}" time={<Countdown to={approval.expires_at} />} />
          </span>
        ) : null}
      </header>
      <Why approval={approval} />
      {shown === 'arguments' ? null : (
        <div className={css.args} tabIndex={0} role="region" aria-label={t('Arguments')}>
          <Json value={approval.args} openTo={9} />
        </div>
      )}
      {shown === 'denial' ? <Denial approval={approval} back={() => setShown('question')} /> : null}
      {shown === 'arguments' ? <OtherArguments approval={approval} back={() => setShown('question')} /> : null}
      {shown === 'question' ? (
        <div className={css.buttons}>
          <ActButton
            needs="review"
            size="xs"
            color="green"
            loading={decide.isPending}
            onClick={() => decide.mutate('allow')}
          >
            {t('Allow once')}
            {hasKeys ? <kbd>Y</kbd> : null}
          </ActButton>
          <ActButton
            needs="review"
            size="xs"
            variant="default"
            disabled={decide.isPending}
            onClick={() => decide.mutate('allow_for_chat')}
          >
            {t('Allow in this chat')}
            {hasKeys ? <kbd>C</kbd> : null}
          </ActButton>
          <ActButton
            needs="review"
            size="xs"
            variant="subtle"
            color="red"
            disabled={decide.isPending}
            onClick={() => setShown('denial')}
          >
            {t('Deny…')}
            {hasKeys ? <kbd>N</kbd> : null}
          </ActButton>
          <ActButton
            needs="review"
            size="xs"
            variant="subtle"
            disabled={decide.isPending}
            onClick={() => setShown('arguments')}
          >
            {t('Edit the arguments')}
            {hasKeys ? <kbd>E</kbd> : null}
          </ActButton>
        </div>
      ) : null}
    </div>
  );
}

/** A denial, with the reason if there is one: it is the next message, so that the model reads it. */
function Denial({ approval, back }: { approval: Approval; back: () => void }) {
  const { approval_id, thread_id, tool_name } = approval;
  const [reason, setReason] = useState('');
  const deny = useAction(t('Denying'), async () => {
    await post(`/api/approvals/${approval_id}`, { decision: 'deny' });
    const content = `I did not allow ${tool_name}: ${reason.trim()}`;
    if (reason.trim()) await post(`/api/threads/${thread_id}/messages`, { content, if_busy: 'queue' });
  });
  const typed = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Escape') back();
    if (event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    deny.mutate();
  };
  return (
    <>
      <Textarea
        label={t('Reason')}
        description={t('Optional. The model is told after this turn.')}
        autosize
        minRows={1}
        maxRows={6}
        autoFocus
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
        onKeyDown={typed}
      />
      <div className={css.buttons}>
        <ActButton needs="review" size="xs" color="red" loading={deny.isPending} onClick={() => deny.mutate()}>
          {t('Deny')}
        </ActButton>
        <Button size="xs" variant="default" onClick={back}>
          {t('Back')}
        </Button>
      </div>
    </>
  );
}
