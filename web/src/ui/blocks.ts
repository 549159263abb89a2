// A text that is still coming, cut where Markdown cannot reach across: at blank lines outside of code. Only the last
// piece changes, so that the rest is rendered once.

const FENCE = /^ {0,3}(`{3,}|~{3,})/;

export function blocks(text: string): string[] {
  const found: string[] = [];
  let lines: string[] = [];
  let fence: string | undefined;
  for (const line of text.split('\n')) {
    const mark = FENCE.exec(line)?.[1];
    if (mark && fence === undefined) fence = mark;
    else if (mark && fence !== undefined && mark.startsWith(fence)) fence = undefined;
    if (line.trim() === '' && fence === undefined && lines.length > 0) {
      found.push(lines.join('\n'));
      lines = [];
    } else if (line !== '' || lines.length > 0) {
      lines.push(line);
    }
  }
  return lines.length > 0 ? [...found, lines.join('\n')] : found;
}
