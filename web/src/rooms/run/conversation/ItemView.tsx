import { IconChevronRight } from '@tabler/icons-react';
import { memo, useState } from 'react';
import { Link } from 'react-router';
import type { QuotedMessage } from '../../../run/frame';
import type { Chore, Item, ReviewItem, Round, RunState } from '../../../run/state';
import { count, duration } from '../../../ui/format';
import { Json, parsed } from '../../../ui/Json';
import { Growing, Markdown } from '../../../ui/Markdown';
import { ReviewButton } from '../../../ui/ReviewButton';
import { Countdown, Duration } from '../../../ui/Time';
import { CallCard } from './CallCard';
import css from './Conversation.module.css';
import { t } from '../../../words/t';
import { Said } from '../../../words/Said';

interface ItemProps {
  run: RunState;
  item: Item;
  isMarked?: boolean;
}

/** One thing that happened in a conversation. */
export const ItemView = memo(
  function ItemView({ run, item, isMarked = false }: ItemProps) {
    switch (item.kind) {
      case 'round':
        return <RoundView run={run} round={item} isMarked={isMarked} />;
      case 'chore':
        return <ChoreView run={run} chore={item} />;
      case 'review':
        return <ReviewItemView item={item} />;
      case 'note':
        return (
          <div>
            <div className={css.note} data-tone={item.tone}>
              {item.text}
            </div>
            {item.detail ? <div className={css.detail}>{item.detail}</div> : null}
          </div>
        );
    }
  },
  (before, after) => before.item === after.item && before.isMarked === after.isMarked && !hasTurn(after.item),
);

/** Conversations inside a card change without the item that holds the card. */
function hasTurn(item: Item): boolean {
  return 'calls' in item && item.calls.some((call) => call.isConversation);
}

function RoundView({ run, round, isMarked }: { run: RunState; round: Round; isMarked: boolean }) {
  const { text, streaming, calls, failures, endedAt } = round;
  const tokens =
    round.inputTokens + round.outputTokens > 0
      ? t('{value} in · {value2} out', { value: count(round.inputTokens), value2: count(round.outputTokens) })
      : '';
  const value = text === undefined ? undefined : parsed(text);
  return (
    <>
      {round.sent.map((message, position) => (
        <Message key={`${message.role}${position}`} message={message} />
      ))}
      <article className={css.round} data-marked={isMarked || undefined}>
        <header>
          <strong>{t('Round {value}', { value: round.index + 1 })}</strong>
          <span>{round.model}</span>
          <span>
            {round.latencyMs === undefined ? (
              <Duration from={round.startedAt} to={endedAt} />
            ) : (
              duration(round.latencyMs)
            )}
          </span>
          <span>{tokens}</span>
          <Link to={`/runs/${run.runId}/events?event=${round.seq}`} title={t('The event of this round')}>
            #{round.seq}
          </Link>
        </header>
        {failures.map((failure) => (
          <p key={failure.seq} className={css.failure}>
            {failure.message}; {failure.then}
          </p>
        ))}
        {value ? <Json value={value} /> : text ? <Markdown text={text} /> : null}
        {text === undefined && round.isPartial && streaming && !endedAt ? (
          <p className={css.waiting}>{t('Words that came before this page was open show with the whole answer.')}</p>
        ) : null}
        {text === undefined && streaming ? (
          <div className={css.caret}>
            <Growing text={streaming} />
          </div>
        ) : null}
        {text === undefined && !streaming && !endedAt ? (
          <p className={css.waiting}>
            {round.isPartial
              ? t('{model} is at work', { model: round.model })
              : t('{model} has not said anything yet', { model: round.model })}
          </p>
        ) : null}
        {calls.length > 0 ? (
          <div className={css.calls}>
            {calls.map((call) => (
              <CallCard key={call.id} run={run} call={call} />
            ))}
          </div>
        ) : null}
      </article>
    </>
  );
}

const ROLES: Record<string, string> = { system: t('System prompt'), user: t('Sent to the model') };

/** A line right above dashes would be read as a heading. */
const parted = (text: string): string => text.replaceAll(/\n(?=-{3,}\n)/g, '\n\n');

function Message({ message }: { message: QuotedMessage }) {
  const [open, setOpen] = useState(message.role === 'user' && (message.content?.length ?? 0) < 3_000);
  const text = message.content ?? '';
  return (
    <section className={css.message} data-role={message.role}>
      <header style={open ? undefined : { marginBottom: 0, flexWrap: 'nowrap' }}>
        <button type="button" className={css.fold} aria-expanded={open} onClick={() => setOpen(!open)}>
          <IconChevronRight size={14} />
          <strong>{ROLES[message.role] ?? message.role}</strong>
        </button>
        {open ? null : <span className={css.preview}>{text.slice(0, 160)}</span>}
      </header>
      {open ? <Markdown text={parted(text)} /> : null}
    </section>
  );
}

function ChoreView({ run, chore }: { run: RunState; chore: Chore }) {
  return (
    <div>
      <div className={css.note}>{chore.text}</div>
      <div className={css.calls}>
        {chore.calls.map((call) => (
          <CallCard key={call.id} run={run} call={call} />
        ))}
      </div>
    </div>
  );
}

const TIMINGS: Record<string, string> = {
  BEFORE_EXECUTION: t('Review before it starts'),
  DURING_EXECUTION: t('A question for a person'),
  AFTER_EXECUTION: t('Review of the output'),
};

function ReviewItemView({ item: { review, outcome } }: { item: ReviewItem }) {
  return (
    <div className={css.review} data-done={outcome ? true : undefined}>
      <strong>{TIMINGS[review.timing]}</strong>
      {outcome ? (
        <span>{outcome.text}</span>
      ) : (
        <>
          {review.expiresAt ? (
            <span>
              <Said of="{time} left" time={<Countdown to={review.expiresAt} />} />
            </span>
          ) : (
            <span>{t('waits without a time limit')}</span>
          )}
          <ReviewButton id={review.reviewId} isQuestion={review.timing === 'DURING_EXECUTION'} size="compact-sm" />
        </>
      )}
      {outcome?.detail ? <p>{outcome.detail}</p> : null}
    </div>
  );
}
