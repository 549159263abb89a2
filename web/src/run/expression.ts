// The tasks an expression names, which come before what it decides.

/** The names after `outputs`, each once. */
export function namesIn(expression: string | undefined): string[] {
  const found = [...(expression ?? '').matchAll(/\boutputs(?:\.([A-Za-z_]\w*)|\[\s*(['"])(.*?)\2\s*\])/g)];
  return [...new Set(found.map(([, word, , quoted]) => word ?? quoted ?? ''))];
}
