// The headings of a text of a model, below those of the page: however deep they begin and whatever they leave out, each is
// at most one level below the one before.

import { createContext } from 'react';

/** The level of the first heading in a text: one below the last heading of the page above it. */
export const HeadingLevel = createContext(3);

const DEEPEST = 6;

/** A node of the tree the renderer makes. */
interface Node {
  type: string;
  tagName?: string;
  children?: Node[];
}

/** Gives every heading its level on the page. */
export function relevel(base: number) {
  return () => (tree: Node) => {
    const above: number[] = [];
    const visit = (node: Node): void => {
      const written = Number(/^h([1-6])$/.exec(node.tagName ?? '')?.[1] ?? 0);
      if (written > 0) {
        while ((above.at(-1) ?? 0) >= written) above.pop();
        node.tagName = `h${Math.min(DEEPEST, base + above.length)}`;
        above.push(written);
      }
      for (const child of node.children ?? []) visit(child);
    };
    visit(tree);
  };
}
