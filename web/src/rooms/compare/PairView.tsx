import type { RunDetail } from '../../api/types';
import { Diff } from '../../ui/Diff';
import { count, duration } from '../../ui/format';
import { Card } from '../../ui/Page';
import { StatusPill } from '../../ui/Status';
import type { Pair } from './align';
import css from './Compare.module.css';
import { plural, t } from '../../words/t';

type Task = RunDetail['tasks'][number];

/** One task of both runs: how it went in each, and what differs between their texts. */
export function PairView({ pair: { name, left, right } }: { pair: Pair }) {
  return (
    <Card className={css.pair}>
      <h2>{name}</h2>
      <div className={css.sides}>
        <Side task={left} missing={t('Not in the first run')} />
        <Side task={right} missing={t('Not in the second run')} />
      </div>
      {left && right && left.description !== right.description ? (
        <section aria-label={t('Prompt of {name}', { name })}>
          <h3>{t('Prompt')}</h3>
          <Diff
            before={left.description}
            after={right.description}
            name={t('Differences in the prompt of {name}', { name })}
          />
        </section>
      ) : null}
      {left && right ? (
        <section aria-label={t('Output of {name}', { name })}>
          <h3>{t('Output')}</h3>
          <Diff
            before={left.output ?? left.error ?? ''}
            after={right.output ?? right.error ?? ''}
            name={t('Differences in the output of {name}', { name })}
            same={t('The outputs are the same.')}
          />
        </section>
      ) : null}
    </Card>
  );
}

function Side({ task, missing }: { task: Task | undefined; missing: string }) {
  if (!task) return <div className={css.none}>{missing}</div>;
  const { status, model, durationMs, tokenCount, toolCallCount } = task;
  const facts = [
    model,
    durationMs === undefined ? undefined : duration(durationMs),
    tokenCount === undefined || tokenCount < 0
      ? undefined
      : t('{tokenCount} tokens', { tokenCount: count(tokenCount) }),
    toolCallCount ? plural(toolCallCount, '{n} call', '{n} calls') : undefined,
  ];
  return (
    <div>
      <StatusPill status={status} />
      <span>{facts.filter(Boolean).join(' · ')}</span>
    </div>
  );
}
