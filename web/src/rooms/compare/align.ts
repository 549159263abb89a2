// Two runs side by side: their tasks aligned by name, and what they used.

import type { RunDetail } from '../../api/types';
import { t } from '../../words/t';

type Task = RunDetail['tasks'][number];

export interface Pair {
  name: string;
  left?: Task;
  right?: Task;
}

/** The tasks of both, in the order of the first; a task only the second has stands where it has it. */
export function aligned(left: RunDetail, right: RunDetail): Pair[] {
  const pairs: Pair[] = left.tasks.map((task) => ({ name: task.name, left: task }));
  let at = 0;
  for (const task of right.tasks) {
    const known = pairs.findIndex((pair) => pair.name === task.name && pair.right === undefined);
    if (known >= 0) {
      const pair = pairs[known];
      if (pair) pair.right = task;
      at = known + 1;
    } else {
      pairs.splice(at, 0, { name: task.name, right: task });
      at += 1;
    }
  }
  return pairs;
}

export interface Figure {
  name: string;
  left: number | undefined;
  right: number | undefined;
}

const costOf = ({ costEstimate: cost }: RunDetail): number | undefined =>
  cost ? cost.inputCost + cost.outputCost : undefined;

/** The numbers of both runs; what is not known is left out of the comparison. */
export function figures(left: RunDetail, right: RunDetail): Record<'time' | 'tokens' | 'cost' | 'calls', Figure[]> {
  const known = (value: number | null | undefined): number | undefined =>
    value === null || value === undefined || value < 0 ? undefined : value;
  const both = (name: string, of: (run: RunDetail) => number | null | undefined): Figure => ({
    name,
    left: known(of(left)),
    right: known(of(right)),
  });
  return {
    time: [both(t('Duration'), ({ durationMs }) => durationMs)],
    tokens: [
      both(t('Tokens in'), ({ metrics }) => metrics.inputTokens),
      both(t('Tokens out'), ({ metrics }) => metrics.outputTokens),
    ],
    cost: [both(t('Cost'), costOf)],
    calls: [
      both(t('Model calls'), ({ metrics }) => metrics.llmCalls),
      both(t('Tool calls'), ({ metrics }) => metrics.totalToolCalls),
    ],
  };
}

/** The difference of the second to the first, as `+20 %`; nothing where there is none. */
export function difference({ left, right }: Figure): string {
  if (left === undefined || right === undefined || left === right) return '';
  if (left === 0) return '';
  const share = Math.round((100 * (right - left)) / left);
  return share === 0 ? '' : `${share > 0 ? '+' : '−'}${Math.abs(share)} %`;
}
