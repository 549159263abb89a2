// The keyboard focus on the page of the editor.

/** Moves the focus to a task on the canvas, once it is drawn. */
export function focusTask(id: string | undefined): void {
  requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-task="${id}"]`)?.focus());
}

/** Whether the keyboard writes in a field, or a dialog has it. */
export const isText = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('input, textarea, [contenteditable], [role="dialog"]') !== null;
