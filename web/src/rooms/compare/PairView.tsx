import type { RunDetail } from '../../api/types';
import { Diff } from '../../ui/Diff';
import { count, duration } from '../../ui/format';
import { Card } from '../../ui/Page';
import { StatusPill } from '../../ui/Status';
import type { Pair } from './align';
import css from './Compare.module.css';

type Task = RunDetail['tasks'][number];

/** One task of both runs: how it went in each, and what differs between their texts. */
export function PairView({ pair: { name, left, right } }: { pair: Pair }) {
  return (
    <Card className={css.pair}>
      <h2>{name}</h2>
      <div className={css.sides}>
        <Side task={left} which="first" />
        <Side task={right} which="second" />
      </div>
      {left && right && left.description !== right.description ? (
        <section aria-label={`Prompt of ${name}`}>
          <h3>Prompt</h3>
          <Diff before={left.description} after={right.description} name={`How the prompt of ${name} differs`} />
        </section>
      ) : null}
      {left && right ? (
        <section aria-label={`Output of ${name}`}>
          <h3>Output</h3>
          <Diff
            before={left.output ?? left.error ?? ''}
            after={right.output ?? right.error ?? ''}
            name={`How the output of ${name} differs`}
            same="The outputs are the same."
          />
        </section>
      ) : null}
    </Card>
  );
}

function Side({ task, which }: { task: Task | undefined; which: string }) {
  if (!task) return <div className={css.none}>Not in the {which} run</div>;
  const { status, model, durationMs, tokenCount, toolCallCount } = task;
  const facts = [
    model,
    durationMs === undefined ? undefined : duration(durationMs),
    tokenCount === undefined || tokenCount < 0 ? undefined : `${count(tokenCount)} tokens`,
    toolCallCount ? `${toolCallCount} ${toolCallCount === 1 ? 'call' : 'calls'}` : undefined,
  ];
  return (
    <div>
      <StatusPill status={status} />
      <span>{facts.filter(Boolean).join(' · ')}</span>
    </div>
  );
}
