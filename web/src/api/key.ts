// The API key, kept for this tab only, and whether the server has asked for one.

const NAME = 'consort.key';

type Listener = () => void;

const listeners = new Set<Listener>();
let asked = false;

function changed(): void {
  for (const listener of listeners) listener();
}

export const key = {
  get: (): string | null => sessionStorage.getItem(NAME),
  set(value: string): void {
    sessionStorage.setItem(NAME, value);
    asked = false;
    changed();
  },
  /** The server refused the key there is, or wants one. */
  ask(): void {
    if (asked) return;
    asked = true;
    changed();
  },
  isAsked: (): boolean => asked,
  subscribe(listener: Listener): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};
