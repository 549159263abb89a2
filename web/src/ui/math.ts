// The ways models write formulas, as the one the renderer reads: `$$…$$`. A single dollar is money unless what it encloses
// can only be a formula. Code is left alone.

/** A fenced block or a piece of inline code, or one of the notations of formulas. */
const PARTS = new RegExp(
  [
    /(^|\n)(```|~~~)[\s\S]*?(?:\n\2|$)/,
    /`[^`\n]*`/,
    /\\\[([\s\S]+?)\\\]/,
    /\\\(([\s\S]+?)\\\)/,
    /\$\$[\s\S]+?\$\$/,
    /\$([^\s$](?:[^$\n]*[^\s$])?)\$(?!\d)/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

/** Signs that prices do not have. */
const FORMULA = /[\\^_{}=]|^[a-zA-Z]$/;

export function mathMarks(text: string): string {
  // Most texts have none.
  if (!/\\[([]|\$/.test(text)) return text;
  return text.replaceAll(PARTS, (whole: string, ...groups: (string | undefined)[]) => {
    const [, , display, inline, dollars] = groups;
    if (display !== undefined) return `\n\n$$\n${display.trim()}\n$$\n\n`;
    if (inline !== undefined) return `$$${inline.trim()}$$`;
    if (dollars !== undefined && FORMULA.test(dollars)) return `$$${dollars}$$`;
    return whole;
  });
}
