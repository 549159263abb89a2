// The filters of the list of runs are in the address, so that a list can be shared. The server filters by status and tag;
// whatever else is wanted is chosen here, among the newest runs.

import type { RunRow } from '../../api/types';
import { shownStatus } from '../../ui/Status';
import { changedSearch, type ParamChange } from '../../ui/useParamsInAddress';

export const PAGE_SIZE = 50;
/** Runs looked through here where the server cannot filter or sort. */
export const LOOKED_THROUGH = 500;

export const SORTS = ['newest', 'oldest', 'longest', 'tokens', 'cost', 'title'] as const;
export type Sort = (typeof SORTS)[number];

export interface Filters {
  /** One of the server's, or `WAITING` or `PAUSED`, which are not `RUNNING` here. */
  status: string;
  tags: string[];
  /** Words in its title, output, ensemble, error or id. */
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

const TEXTS = ['status', 'text', 'model', 'from', 'to', 'cost'] as const;
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

/** Whether the runs are chosen, sorted and paged here. */
export function isLocal({ status, text, model, from, to, cost, sort }: Filters): boolean {
  return OWN_STATUSES.has(status) || [text, model, from, to, cost].some(Boolean) || sort !== 'newest';
}

/** The server's part of the filters as its query. */
export function toQuery(filters: Filters): string {
  const { status, tags, page } = filters;
  const params = new URLSearchParams();
  if (status) params.set('status', OWN_STATUSES.has(status) ? 'RUNNING' : status);
  for (const tag of tags) params.append('tag', tag);
  const size = isLocal(filters) ? LOOKED_THROUGH : PAGE_SIZE;
  params.set('limit', String(size));
  params.set('offset', String(isLocal(filters) ? 0 : (page - 1) * size));
  return params.toString();
}

export const costOf = ({ costEstimate: cost }: RunRow): number | undefined =>
  cost ? cost.inputCost + cost.outputCost : undefined;

/** The rest of the filters, for runs the server has listed. */
export function chosen(runs: readonly RunRow[], filters: Filters, now: number): RunRow[] {
  const words = filters.text.toLowerCase().split(/\s+/).filter(Boolean);
  // The days of the person who looks, both ends included.
  const from = filters.from ? Date.parse(`${filters.from}T00:00:00`) : -Infinity;
  const to = filters.to ? Date.parse(`${filters.to}T23:59:59.999`) : Infinity;
  const isWanted = (run: RunRow): boolean => {
    const at = Date.parse(run.startedAt);
    const { title = '', outputPreview = '', ensemble, error = '', runId } = run;
    const text = `${title} ${outputPreview} ${ensemble} ${error} ${runId}`.toLowerCase();
    return (
      (!OWN_STATUSES.has(filters.status) || workOf(run) === filters.status) &&
      words.every((word) => text.includes(word)) &&
      (!filters.model || run.model === filters.model) &&
      at >= from &&
      at <= to &&
      (!filters.cost || (costOf(run) ?? -1) >= Number(filters.cost))
    );
  };
  return sorted(runs.filter(isWanted), filters.sort, now);
}

/** How a run that is not over stands; one that is about to stop still runs. */
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
