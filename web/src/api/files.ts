// The kinds of files, which browsers do not know for every name.

const KINDS: Record<string, string> = {
  csv: 'text/csv',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  htm: 'text/html',
  html: 'text/html',
  markdown: 'text/markdown',
  md: 'text/markdown',
  pdf: 'application/pdf',
};

/** The kind of a file: by its name where that says it, then what the browser thinks, else plain text. */
export function mediaType({ name, type }: { name: string; type: string }): string {
  const ending = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  return KINDS[ending] ?? (type || 'text/plain');
}
