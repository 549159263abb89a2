import type { CostSummary } from '../../chat/frame';
import { count, duration, money } from '../../ui/format';
import css from './Chat.module.css';

/** The usage of a turn, below its answer. */
export function Cost({ cost, model }: { cost: CostSummary; model: string | undefined }) {
  return (
    <footer className={css.foot}>
      <span>{model}</span>
      {cost.llm_calls > 0 && cost.input_tokens + cost.output_tokens === 0 ? (
        <span>its model did not say what it used</span>
      ) : (
        <>
          <span>
            {count(cost.input_tokens)} in · {count(cost.output_tokens)} out
          </span>
          <span>{cost.total_usd === null ? 'no price set' : money(cost.total_usd)}</span>
        </>
      )}
      <span>{duration(cost.wall_ms)}</span>
      {cost.tool_calls > 0 ? (
        <span>
          {cost.tool_calls} {cost.tool_calls === 1 ? 'call' : 'calls'}
        </span>
      ) : null}
      {cost.subtasks > 0 ? (
        <span>
          {cost.subtasks} {cost.subtasks === 1 ? 'subtask' : 'subtasks'}
        </span>
      ) : null}
    </footer>
  );
}
