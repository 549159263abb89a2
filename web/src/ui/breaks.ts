// Line breaks of a text of a model. Markdown joins the lines of a paragraph; models write lists of lines and mean them.

/** A node of the tree the renderer makes. */
interface Node {
  type: string;
  tagName?: string;
  value?: string;
  properties?: Record<string, unknown>;
  children?: Node[];
}

/** The elements whose texts are sentences. */
const WITH_TEXT = new Set(['p', 'li', 'td', 'th', 'strong', 'em', 'del', 'a']);
/** The elements that begin and end lines by themselves. */
const WITH_LINES = new Set(['br', 'p', 'ul', 'ol', 'pre', 'blockquote', 'table', 'hr']);

const endsLine = (node: Node | undefined): boolean => node === undefined || WITH_LINES.has(node.tagName ?? '');

/** Keeps every line of a sentence a line of its own. */
export function breaks() {
  return (tree: Node): void => visit(tree);
}

function visit(node: Node): void {
  if (!node.children || node.tagName === 'pre' || node.tagName === 'code') return;
  if (WITH_TEXT.has(node.tagName ?? '')) node.children = broken(node.children);
  for (const child of node.children) visit(child);
}

function broken(children: Node[]): Node[] {
  return children.flatMap((child, at) => {
    if (child.type !== 'text' || !child.value?.includes('\n')) return [child];
    const lines = child.value.split('\n');
    if (endsLine(children[at - 1])) while (lines.length > 1 && lines[0]?.trim() === '') lines.shift();
    if (endsLine(children[at + 1])) while (lines.length > 1 && lines.at(-1)?.trim() === '') lines.pop();
    return lines.flatMap((value, line): Node[] => [
      ...(line === 0 ? [] : [{ type: 'element', tagName: 'br', properties: {}, children: [] }]),
      { type: 'text', value },
    ]);
  });
}
