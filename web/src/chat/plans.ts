// The workflows planned in a thread: the graphs by reference, the plan under way, and whether one is on the canvas.

import type { WorkflowDocument } from '../api/types';
import type { Call, Item, Plan, ThreadState, Turn } from './state';
import { plural, t } from '../words/t';

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

/** The newest graph with this reference; every turn counts its references from 1. */
export function plannedGraph({ turns }: ThreadState, reference: string): WorkflowDocument | undefined {
  for (const { items } of turns.toReversed()) {
    const found = [...calls(items)].findLast((call) => call.plan?.graph && referenceOf(call) === reference);
    if (found) return found.plan?.graph;
  }
  return undefined;
}

/** Whether a plan of the turn was put on the canvas. */
export function isOnCanvas({ items }: Turn): boolean {
  return [...calls(items)].some(({ name, isOver, isError }) => name === 'ui_paste' && isOver && !isError);
}

/** The plan being made now, until it is on the canvas. */
export function planUnderWay({ turns }: ThreadState): Plan | undefined {
  const turn = turns.at(-1);
  if (!turn || turn.isOver || isOnCanvas(turn)) return undefined;
  return [...calls(turn.items)].findLast(({ plan, isOver, isError }) => plan && !(isOver && isError))?.plan;
}

/** The progress of a plan, in one line. */
export function planText({ objective, refusals, mistakes, isChecked, tasks }: Plan): string {
  if (tasks.length > 0)
    return `${plural(tasks.length, 'Planned {n} task', 'Planned {n} tasks')}: ${tasks.map(({ name }) => name).join(', ')}`;
  if (isChecked) return t('The plan has no mistakes');
  return refusals > 0 ? t('Corrects the plan: {mistakes}', { mistakes }) : t('Plans: {objective}', { objective });
}

/** The result of an editor's call in one line; other calls show their arguments and results. */
export function editorCallText({ name, plan, isOver, isError, result = '' }: Call): string | undefined {
  if (plan && !isError) return planText(plan);
  if (!name.startsWith('ui_') || !isOver) return undefined;
  return name === 'ui_get_graph' && !isError ? t('Looked at the canvas') : result;
}
