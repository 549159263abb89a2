import { Button } from '@mantine/core';
import { post } from '../../api/client';
import type { Approval } from '../../chat/frame';
import { Json } from '../../ui/Json';
import { Countdown } from '../../ui/Time';
import { useAction } from '../../ui/useAction';
import css from './Chat.module.css';
import { Why } from './Why';

/** A call that waits for a person, with exactly what it would be called with. */
export function ApprovalCard({ approval }: { approval: Approval }) {
  const decide = useAction('Deciding', (decision: 'allow' | 'allow_for_chat' | 'deny') =>
    post(`/api/approvals/${approval.approval_id}`, { decision }),
  );
  return (
    <div className={css.approval} role="alertdialog" aria-label={`May ${approval.tool_name} be called?`}>
      <header>
        <span>
          May <code>{approval.tool_name}</code> be called with exactly this?
        </span>
        {approval.expires_at ? (
          <span>
            denied in <Countdown to={approval.expires_at} />
          </span>
        ) : null}
      </header>
      <Why approval={approval} />
      <div className={css.args} tabIndex={0} role="region" aria-label="Arguments">
        <Json value={approval.args} openTo={9} />
      </div>
      <div className={css.buttons}>
        <Button size="xs" color="green" loading={decide.isPending} onClick={() => decide.mutate('allow')}>
          Allow once
        </Button>
        <Button size="xs" variant="default" disabled={decide.isPending} onClick={() => decide.mutate('allow_for_chat')}>
          Allow in this chat
        </Button>
        <Button
          size="xs"
          variant="subtle"
          color="red"
          disabled={decide.isPending}
          onClick={() => decide.mutate('deny')}
        >
          Deny
        </Button>
      </div>
    </div>
  );
}
