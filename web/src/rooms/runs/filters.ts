// The filters of the list of runs are in the address, so that a list can be shared. The server filters, and orders by
// start; whether a run waits or is paused, and any other order, are seen to here, among all runs that the server lists.

import type { RunRow } from '../../api/types';
import { shownStatus } from '../../ui/Status';
import { changedSearch, type ParamChange } from '../../ui/useParamsInAddress';

export const PAGE_SIZE = 50;
/** Runs asked for at once where they are chosen or sorted here. */
const CHUNK_SIZE = 500;

export const SORTS = ['newest', 'oldest', 'longest', 'tokens', 'cost', 'title'] as const;
export type Sort = (typeof SORTS)[number];

export interface Filters {
  /** `peer` for the work for other ensembles, and nothing for the runs of this one. */
  kind: string;
  /** One of the server's, or `WAITING` or `PAUSED`, which are not `RUNNING` here. */
  status: string;
  tags: string[];
  /** Words in its inputs, tasks, output, error or id. */
  text: string;
  model: string;
  /** Days, as `2026-01-31`. */
  from: string;
  to: string;
  /** Dollars it cost at least. */
  cost: string;
  sort: Sort;
  page: number;
}

export const NO_FILTERS: Filters = {
  kind: '',
  status: '',
  tags: [],
  text: '',
  model: '',
  from: '',
  to: '',
  cost: '',
  sort: 'newest',
  page: 1,
};

const TEXTS = ['kind', 'status', 'text', 'model', 'from', 'to', 'cost'] as const;
/** For the server all of these run. */
const OWN_STATUSES = new Set(['RUNNING', 'WAITING', 'PAUSED']);

export function readFilters(params: URLSearchParams): Filters {
  const page = Number(params.get('page') ?? 1);
  const texts = Object.fromEntries(TEXTS.map((name) => [name, params.get(name) ?? ''])) as Pick<
    Filters,
    (typeof TEXTS)[number]
  >;
  return {
    ...texts,
    tags: params.getAll('tag'),
    sort: SORTS.find((sort) => sort === params.get('sort')) ?? 'newest',
    page: Number.isInteger(page) && page > 0 ? page : 1,
  };
}

/** The parameters of some filters in the address. */
export function writeFilters({ tags, sort, page, ...texts }: Partial<Filters>): ParamChange {
  return {
    ...Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, text || undefined])),
    ...(tags ? { tag: tags } : {}),
    ...(sort ? { sort: sort === 'newest' ? undefined : sort } : {}),
    ...(page ? { page: page > 1 ? String(page) : undefined } : {}),
  };
}

/** The filters as the whole search of an address. */
export const searchOf = (filters: Filters): string => changedSearch('', writeFilters(filters));

export const isFiltered = (filters: Filters): boolean => searchOf({ ...filters, page: 1, sort: 'newest' }) !== '';

/** Whether all runs that the server lists are wanted, to be chosen, sorted and paged here. */
export function wantsAll({ status, model, cost, sort }: Filters): boolean {
  return OWN_STATUSES.has(status) || [model, cost].some(Boolean) || !isByStart(sort);
}

const isByStart = (sort: Sort): boolean => sort === 'newest' || sort === 'oldest';

/** The server's part of the filters as its query. */
export function toQuery(filters: Filters): string {
  const { kind, status, tags, text, model, from, to, cost, sort, page } = filters;
  const params = new URLSearchParams();
  const set = (name: string, value: string | undefined): void => {
    if (value) params.set(name, value);
  };
  set('kind', kind);
  set('status', OWN_STATUSES.has(status) ? 'RUNNING' : status);
  set('waiting', status === 'WAITING' ? 'review' : undefined);
  set('paused', status === 'PAUSED' ? 'true' : undefined);
  for (const tag of tags) params.append('tag', tag);
  set('q', text.trim());
  set('model', model);
  // The days of the person who looks, both ends included.
  set('from', timeOf(`${from}T00:00:00`));
  set('to', timeOf(`${to}T23:59:59.999`));
  set('minCost', cost);
  set('order', sort === 'oldest' ? sort : undefined);
  if (wantsAll(filters)) params.set('limit', String(CHUNK_SIZE));
  else {
    params.set('limit', String(PAGE_SIZE));
    params.set('offset', String((page - 1) * PAGE_SIZE));
  }
  return params.toString();
}

function timeOf(local: string): string | undefined {
  const time = new Date(local);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

export const costOf = ({ costEstimate: cost }: RunRow): number | undefined =>
  cost ? cost.inputCost + cost.outputCost : undefined;

/** The rest of the filters, for runs the server has listed. */
export function chosen(runs: readonly RunRow[], { status, sort }: Filters, now: number): RunRow[] {
  return sorted(
    runs.filter((run) => !OWN_STATUSES.has(status) || workOf(run) === status),
    sort,
    now,
  );
}

/** The state of a run that is not over; one that is about to stop still runs. */
function workOf(run: RunRow): string {
  const shown = shownStatus(run);
  return shown === 'STOPPING' ? 'RUNNING' : shown;
}

function sorted(runs: readonly RunRow[], sort: Sort, now: number): RunRow[] {
  const took = (run: RunRow): number => run.durationMs ?? now - Date.parse(run.startedAt);
  const orders: Record<Sort, (one: RunRow, other: RunRow) => number> = {
    newest: (one, other) => Date.parse(other.startedAt) - Date.parse(one.startedAt),
    oldest: (one, other) => Date.parse(one.startedAt) - Date.parse(other.startedAt),
    longest: (one, other) => took(other) - took(one),
    tokens: (one, other) => other.totalTokens - one.totalTokens,
    cost: (one, other) => (costOf(other) ?? -1) - (costOf(one) ?? -1),
    title: (one, other) => (one.title ?? '').localeCompare(other.title ?? ''),
  };
  return runs.toSorted(orders[sort]);
}
