import type { Approval } from '../../chat/frame';
import css from './Chat.module.css';

/** Why a call is asked about, where that is not its own effect, and what allowing it for the chat covers. */
export function Why({ approval }: { approval: Approval }) {
  const { reason, message, host, tool_name } = approval;
  const isEffect = reason === undefined || reason === 'effect';
  if (isEffect && !host) return null;
  return (
    <div className={css.why}>
      {isEffect ? null : <strong>{message}</strong>}
      {reason === 'instructions' ? (
        <span>It is asked each time.</span>
      ) : host ? (
        <span>
          In this chat, allowing it covers <code>{tool_name}</code> to <code>{host}</code>.
        </span>
      ) : null}
    </div>
  );
}
