/** The `{variables}` of texts, each once; `{{name}}` is none. */
export function variablesIn(texts: readonly string[]): string[] {
  const found = texts.flatMap((text) =>
    [...text.replaceAll(/\{\{\w+\}\}/g, '').matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
  );
  return [...new Set(found)];
}
