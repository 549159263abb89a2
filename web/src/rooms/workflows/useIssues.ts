import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { post, Problem } from '../../api/client';
import type { Mistake, Rehearsal } from '../../api/types';
import { check, mergeIssues, toIssues, type Issue } from '../../workflow/check';
import { toDocument } from '../../workflow/convert';
import type { Graph } from '../../workflow/graph';

/** Pause in the typing after which the server is asked. */
const PAUSE_MS = 400;

/** The mistakes for which the server would refuse the graph. None while the server cannot be asked. */
async function dryRunMistakes(graph: Graph): Promise<Mistake[]> {
  const { tasks, inputs, options, groups } = toDocument(graph);
  const bare = tasks.map(({ position: _position, ...task }) => task);
  try {
    await post<Rehearsal>('/api/runs', {
      tasks: bare,
      dryRun: true,
      ...(inputs ? { inputs } : {}),
      ...(groups ? { groups } : {}),
      ...(options ? { options } : {}),
    });
    return [];
  } catch (error) {
    if (error instanceof Problem && error.status === 400)
      return error.mistakes.length > 0 ? error.mistakes : [{ error: error.code, place: '', message: error.message }];
    throw error;
  }
}

/** The issues of the graph: those found here at once, then those of the server. */
export function useIssues(graph: Graph): Issue[] {
  const here = useMemo(() => check(graph), [graph]);
  const [settled] = useDebouncedValue(graph, PAUSE_MS);
  const { data } = useQuery({
    queryKey: ['workflow-check', settled],
    queryKeyHashFn: () => JSON.stringify(['workflow-check', toDocument(settled)]),
    queryFn: () => dryRunMistakes(settled).then((mistakes) => toIssues(settled, mistakes)),
    enabled: settled.tasks.length > 0,
    placeholderData: keepPreviousData,
    staleTime: 30_000,
    retry: false,
  });
  return useMemo(() => mergeIssues(here, graph.tasks.length > 0 ? (data ?? []) : []), [here, data, graph.tasks.length]);
}
