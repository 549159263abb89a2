/** The same fields without those that are absent. */
export function definedFields<T extends object>(value: { [K in keyof T]: T[K] | undefined | null }): T {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined && field !== null)) as T;
}
