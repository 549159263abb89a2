import { useMemo, useState } from 'react';
import { conversationOf } from '../../run/instances';
import { grouped } from '../../ui/grouped';
import { givenNames } from '../../workflow/convert';
import { titleOf } from '../../workflow/graph';
import type { CanvasProps } from './Canvas';
import { kept, node, type NodeType } from './Node';
import type { Point } from '../../ui/point';

type DrawnProps = Required<Pick<CanvasProps, 'selected' | 'touched' | 'issues'>> & Omit<CanvasProps, 'children'>;

/** The nodes, each the same object as long as it looks the same: a thousand of them are not drawn again for one. */
export function useNodes(
  { graph, selected, touched, issues, ghosts, run, linking, actions }: DrawnProps,
  dragged: ReadonlyMap<string, Point>,
): NodeType[] {
  const [known, setKnown] = useState<NodeType[]>([]);
  const next = useMemo(() => {
    const names = givenNames(graph.tasks);
    const running = new Map(run?.tasks.map((task) => [task.name, task]));
    const wrong = grouped(issues, ({ task }) => task);
    const here = graph.tasks.map((task, position) => {
      const ran = running.get(names[position] ?? '');
      return node(
        {
          task,
          title: titleOf(graph, task.id),
          reads: task.reads.map((id) => titleOf(graph, id)).join(', '),
          issues: (wrong.get(task.id) ?? []).map(({ message }) => message).join('; '),
          isSelected: selected.includes(task.id),
          isTouched: touched.includes(task.id),
          isGhost: false,
          isLinking: linking === task.id,
          ran,
          conversation: ran && run && conversationOf(run, ran),
          actions,
        },
        dragged.get(task.id) ?? task.at,
      );
    });
    const planned = (ghosts?.tasks ?? []).map((task) =>
      node(
        {
          task,
          title: task.name,
          reads: '',
          issues: '',
          isSelected: false,
          isTouched: false,
          isGhost: true,
          isLinking: false,
          ran: undefined,
          conversation: undefined,
          actions: undefined,
        },
        task.at,
        'ghost-',
      ),
    );
    return [...here, ...planned];
  }, [graph, selected, touched, issues, ghosts, run, linking, actions, dragged]);
  const nodes = useMemo(() => {
    const old = new Map(known.map((each) => [each.id, each]));
    return next.map((each) => kept(old.get(each.id), each));
  }, [next, known]);
  const isSame = nodes.length === known.length && nodes.every((each, position) => each === known[position]);
  if (!isSame) setKnown(nodes);
  return isSame ? known : nodes;
}
