import type { CostSummary } from '../../chat/frame';
import { count, duration, money } from '../../ui/format';
import css from './Chat.module.css';
import { plural, t } from '../../words/t';

/** The usage of a turn, below its answer. */
export function Cost({ cost, model }: { cost: CostSummary; model: string | undefined }) {
  return (
    <footer className={css.foot}>
      <span>{model}</span>
      {cost.llm_calls > 0 && cost.input_tokens + cost.output_tokens === 0 ? (
        <span>{t('the model did not report its usage')}</span>
      ) : (
        <>
          <span>
            {t('{value} in · {value2} out', { value: count(cost.input_tokens), value2: count(cost.output_tokens) })}
          </span>
          <span>{cost.total_usd === null ? t('no price set') : money(cost.total_usd)}</span>
        </>
      )}
      <span>{duration(cost.wall_ms)}</span>
      {cost.tool_calls > 0 ? <span>{plural(cost.tool_calls, '{n} call', '{n} calls')}</span> : null}
      {cost.subtasks > 0 ? <span>{plural(cost.subtasks, '{n} subtask', '{n} subtasks')}</span> : null}
    </footer>
  );
}
