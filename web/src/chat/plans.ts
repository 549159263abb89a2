// What a conversation has planned: graphs by what they are called, the plan under way, whether one was taken over.

import type { WorkflowDocument } from '../api/types';
import type { Call, Item, Plan, ThreadState, Turn } from './state';

function* calls(items: readonly Item[]): Generator<Call> {
  for (const item of items) {
    if (item.kind !== 'call') continue;
    yield item;
    yield* calls(item.items);
  }
}

function referenceOf({ result }: Call): string | undefined {
  try {
    return (JSON.parse(result ?? '') as { graph_ref?: string }).graph_ref;
  } catch {
    return undefined;
  }
}

/** The graph of this name; turns name theirs alike, so the newest. */
export function plannedGraph({ turns }: ThreadState, reference: string): WorkflowDocument | undefined {
  for (const { items } of turns.toReversed()) {
    const found = [...calls(items)].findLast((call) => call.plan?.graph && referenceOf(call) === reference);
    if (found) return found.plan?.graph;
  }
  return undefined;
}

/** Whether something planned in a turn was put on the canvas. */
export function isPut({ items }: Turn): boolean {
  return [...calls(items)].some(({ name, isOver, isError }) => name === 'ui_paste' && isOver && !isError);
}

/** What is being planned now, until it is on the canvas. */
export function planUnderWay({ turns }: ThreadState): Plan | undefined {
  const turn = turns.at(-1);
  if (!turn || turn.isOver || isPut(turn)) return undefined;
  return [...calls(turn.items)].findLast(({ plan, isOver, isError }) => plan && !(isOver && isError))?.plan;
}

/** How far a plan is, in one line. */
export function planText({ objective, refusals, mistakes, isChecked, tasks }: Plan): string {
  if (tasks.length > 0)
    return `Planned ${tasks.length} ${tasks.length === 1 ? 'task' : 'tasks'}: ${tasks.map(({ name }) => name).join(', ')}`;
  if (isChecked) return 'The plan has no mistakes';
  return refusals > 0 ? `Mends the plan: ${mistakes}` : `Plans: ${objective}`;
}

/** What a call of the editor comes to, in one line; other calls tell it by their arguments and results. */
export function calledText({ name, plan, isOver, isError, result = '' }: Call): string | undefined {
  if (plan && !isError) return planText(plan);
  if (!name.startsWith('ui_') || !isOver) return undefined;
  return name === 'ui_get_graph' && !isError ? 'Looked at the canvas' : result;
}
