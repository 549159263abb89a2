import { activityText } from '../../../run/activity';
import type { Call, RunState } from '../../../run/state';
import { count, money } from '../../../ui/format';
import { Markdown } from '../../../ui/Markdown';
import { Text } from '../../../ui/Text';
import { inOneLine, ToolCard, ToolPart } from '../../../ui/ToolCard';
import css from './Conversation.module.css';
import { ItemView } from './ItemView';
import { t } from '../../../words/t';

/** A tool call of a run; a subtask opens into its own conversation. */
export function CallCard({ run, call }: { run: RunState; call: Call }) {
  const conversation = call.isConversation ? run.conversations.get(call.id) : undefined;
  const line = conversation
    ? conversation.phase.kind === 'over'
      ? conversation.title
      : `${conversation.title}: ${activityText(conversation)}`
    : `${inOneLine(call.args, call.result)}${call.progress && !call.endedAt ? ` · ${call.progress}` : ''}`;
  return (
    <ToolCard
      name={call.tool}
      line={line}
      status={call.outcome === 'FAILURE' ? 'FAILED' : call.endedAt ? 'COMPLETED' : 'RUNNING'}
      isSubtask={call.isConversation}
      startedAt={call.startedAt}
      durationMs={call.durationMs}
    >
      {() => (
        <>
          {call.args ? (
            <ToolPart title={t('Arguments')}>
              <Text text={call.args} />
            </ToolPart>
          ) : null}
          {conversation ? (
            <div className={css.nested}>
              {conversation.prompt && conversation.items.length === 0 ? <Markdown text={conversation.prompt} /> : null}
              {conversation.items.map((item) => (
                <ItemView key={item.seq} run={run} item={item} />
              ))}
            </div>
          ) : null}
          {call.charged ? (
            <p className={css.waiting}>
              {t('Another ensemble used {value} tokens and {value2} for it', {
                value: count(call.charged.tokens),
                value2: money(call.charged.costUsd),
              })}
            </p>
          ) : null}
          {call.result === undefined ? null : (
            <ToolPart title={call.outcome === 'FAILURE' ? t('Why it failed') : t('Result')}>
              <Text text={call.result} />
            </ToolPart>
          )}
        </>
      )}
    </ToolCard>
  );
}
