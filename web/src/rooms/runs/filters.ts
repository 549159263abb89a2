// The filters of the list of runs are in the address, so that a list can be shared.

export const PAGE_SIZE = 50;

export interface Filters {
  status: string;
  tags: string[];
  page: number;
}

export function readFilters(params: URLSearchParams): Filters {
  const page = Number(params.get('page') ?? 1);
  return {
    status: params.get('status') ?? '',
    tags: params.getAll('tag'),
    page: Number.isInteger(page) && page > 0 ? page : 1,
  };
}

export function writeFilters({ status, tags, page }: Filters): URLSearchParams {
  const params = new URLSearchParams();
  if (status) params.set('status', status);
  for (const tag of tags) params.append('tag', tag);
  if (page > 1) params.set('page', String(page));
  return params;
}

/** The same filters as the server's query. */
export function toQuery(filters: Filters): string {
  const params = writeFilters({ ...filters, page: 1 });
  params.set('limit', String(PAGE_SIZE));
  params.set('offset', String((filters.page - 1) * PAGE_SIZE));
  return params.toString();
}
