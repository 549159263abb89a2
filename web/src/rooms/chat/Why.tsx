import type { Approval } from '../../chat/frame';
import css from './Chat.module.css';
import { t } from '../../words/t';
import { Said } from '../../words/Said';

/** The reason why a call is asked about, where that is not its own effect, and the extent of a grant. */
export function Why({ approval }: { approval: Approval }) {
  const { reason, message, host, tool_name } = approval;
  const isEffect = reason === undefined || reason === 'effect';
  if (isEffect && !host) return null;
  return (
    <div className={css.why}>
      {isEffect ? null : <strong>{message}</strong>}
      {reason === 'instructions' ? (
        <span>{t('It is asked each time.')}</span>
      ) : host ? (
        <span>
          <Said
            of="In this chat, allowing it covers {code} to {code2}."
            code={<code>{tool_name}</code>}
            code2={<code>{host}</code>}
          />
        </span>
      ) : null}
    </div>
  );
}
