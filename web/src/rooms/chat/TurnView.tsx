import { Button, Loader } from '@mantine/core';
import { createContext, memo, useContext } from 'react';
import type { WorkflowDocument } from '../../api/types';
import { editorCallText } from '../../chat/plans';
import type { Call, Item, Plan, Turn } from '../../chat/state';
import { Growing, Markdown } from '../../ui/Markdown';
import { Text } from '../../ui/Text';
import { inOneLine, ToolCard, ToolPart } from '../../ui/ToolCard';
import { ApprovalCard } from './ApprovalCard';
import css from './Chat.module.css';
import { SentFiles } from './FileChips';
import { Cost } from './Cost';
import { TurnActions, type TurnDeeds } from './TurnActions';
import { plural, t } from '../../words/t';

/** Puts a planned workflow on the canvas, where the thread is shown beside one. */
export const PutPlan = createContext<((plan: WorkflowDocument) => void) | undefined>(undefined);

/** A person's message and everything that followed from it. */
export const TurnView = memo(function TurnView({
  turn,
  deeds,
  continueTurn,
}: {
  turn: Turn;
  deeds?: TurnDeeds | undefined;
  continueTurn?: (() => void) | undefined;
}) {
  const isQuiet =
    !turn.isOver &&
    turn.approvals.length === 0 &&
    !turn.items.some((item) => item.kind === 'text' && item.isStreaming && item.text);
  return (
    <section className={css.turn} aria-label={t('Turn: {value}', { value: turn.message.slice(0, 60) })}>
      <div className={css.said}>{turn.message}</div>
      <SentFiles files={turn.attachments} />
      <div className={css.answer}>
        <Items items={turn.items} asked={new Set(turn.approvals.map(({ tool_call_id }) => tool_call_id))} />
        {turn.isCut ? (
          <p className={css.note} data-tone="warn">
            {t('The answer was cut at the model’s output limit.')}{' '}
            {continueTurn ? (
              <Button size="compact-xs" variant="light" onClick={continueTurn}>
                {t('Continue')}
              </Button>
            ) : null}
          </p>
        ) : null}
        {turn.approvals.map((approval, position) => (
          <ApprovalCard key={approval.approval_id} approval={approval} hasKeys={position === 0} />
        ))}
        {isQuiet ? (
          <div className={css.working} role="status">
            <Loader size={13} />
            {status(turn.items) ?? t('thinks')}
          </div>
        ) : null}
      </div>
      <div className={css.end}>
        {turn.cost ? <Cost cost={turn.cost} model={turn.model} /> : null}
        {turn.isOver ? <TurnActions turn={turn} deeds={deeds} /> : null}
      </div>
    </section>
  );
});

/** `asked`: the calls a person is asked about. */
function Items({ items, asked }: { items: Item[]; asked: ReadonlySet<string> }) {
  return items.map((item) => {
    switch (item.kind) {
      case 'text':
        return item.text || item.hasGap ? (
          <div key={item.id}>
            {item.hasGap && item.isStreaming ? (
              <p className={css.gap}>
                {t('Its first words came before this page was open; the whole answer shows when it is complete.')}
              </p>
            ) : null}
            {item.isStreaming ? <Growing text={item.text} /> : <Markdown text={item.text} />}
          </div>
        ) : null;
      case 'call':
        return <CallView key={item.id} call={item} asked={asked} />;
      case 'note':
        return (
          <p key={item.id} className={css.note} data-tone={item.tone}>
            {item.text}
          </p>
        );
    }
  });
}

function CallView({ call, asked }: { call: Call; asked: ReadonlySet<string> }) {
  const isSubtask = call.name === 'run_subtask';
  const args = typeof call.args === 'string' ? call.args : JSON.stringify(call.args ?? {});
  const live = call.isOver ? undefined : status(call.items);
  const line =
    editorCallText(call) ??
    (isSubtask
      ? (live ?? inOneLine('', call.result))
      : `${inOneLine(args, call.result)}${call.progress && !call.isOver ? ` · ${call.progress}` : ''}`);
  return (
    <>
      <ToolCard
        name={isSubtask ? (call.title ?? t('Subtask')) : call.name}
        line={line}
        status={call.isError ? 'FAILED' : call.isOver ? 'COMPLETED' : asked.has(call.id) ? 'WAITING' : 'RUNNING'}
        isSubtask={isSubtask}
        startedAt={call.startedAt}
        durationMs={call.durationMs}
      >
        {() => (
          <>
            <ToolPart title={isSubtask ? t('Instructions') : t('Arguments')}>
              <Text text={args} />
            </ToolPart>
            {call.plan ? <PlanPart plan={call.plan} /> : null}
            {call.items.length > 0 ? (
              <div className={css.nested}>
                <Items items={call.items} asked={asked} />
              </div>
            ) : null}
            {call.result === undefined ? null : (
              <ToolPart title={call.isError ? t('Why it failed') : t('Result')}>
                <Text text={call.result} />
              </ToolPart>
            )}
          </>
        )}
      </ToolCard>
      {call.plan?.graph ? <PutButton plan={call.plan.graph} /> : null}
    </>
  );
}

/** The tasks of a plan, and how often it was sent back. */
function PlanPart({ plan: { tasks, refusals, mistakes } }: { plan: Plan }) {
  return (
    <ToolPart title={t('Plan')}>
      {refusals > 0 ? (
        <p className={css.note} data-tone="warn">
          {plural(refusals, 'Sent back once', 'Sent back {n} times')}: {mistakes}
        </p>
      ) : null}
      <ol className={css.plan}>
        {tasks.map(({ name, description, context }) => (
          <li key={name}>
            <strong>{name}</strong> {description}
            {context?.length ? (
              <small>
                {' '}
                {t('reads {names}', { names: context.map((each) => String(each).replace(/^\$/, '')).join(', ') })}
              </small>
            ) : null}
          </li>
        ))}
      </ol>
    </ToolPart>
  );
}

function PutButton({ plan }: { plan: WorkflowDocument }) {
  const put = useContext(PutPlan);
  return put ? (
    <div>
      <Button size="xs" variant="light" onClick={() => put(plan)}>
        {t('Put it on the canvas')}
      </Button>
    </div>
  ) : null;
}

/** The call or thought under way among these items, in one line. */
function status(items: Item[]): string | undefined {
  const open = items.filter((item): item is Call => item.kind === 'call' && !item.isOver);
  const last = open.at(-1);
  if (!last) {
    const words = items.findLast((item) => item.kind === 'text' && item.isStreaming);
    return words?.kind === 'text'
      ? t('thinks') + (words.thought ? `: ${words.thought.replaceAll('\n', ' ').trim()}` : '')
      : undefined;
  }
  const inner = status(last.items);
  const name = last.name === 'run_subtask' ? (last.title ?? t('a subtask')) : t('runs {name}', { name: last.name });
  const more = open.length > 1 ? t(' and {count} more', { count: open.length - 1 }) : '';
  return `${name}${inner ? `: ${inner}` : ''}${more}`;
}
