import { Select, Textarea, TextInput } from '@mantine/core';
import type { Workflow } from '../../api/types';
import type { Issue } from '../../workflow/check';
import { type Graph, order, variables } from '../../workflow/graph';
import type { EditorStore } from '../../workflow/store';
import css from './Editor.module.css';

const WORDS: Record<Workflow, string> = {
  SEQUENTIAL: 'One after another',
  PARALLEL: 'As soon as they can',
  HIERARCHICAL: 'Handed out by a manager',
};
const ORDERS = Object.entries(WORDS).map(([value, label]) => ({ value, label }));
const POLICIES = [
  { value: 'NEVER', label: 'No reviews' },
  { value: 'AFTER_EVERY_TASK', label: 'After every task' },
  { value: 'AFTER_LAST_TASK', label: 'After the last task' },
];

/** The workflow as a whole, while no task is selected. */
export function AboutForm({ store, graph, issues }: { store: EditorStore; graph: Graph; issues: readonly Issue[] }) {
  const set = (label: string, fields: Partial<Graph>): void =>
    store.edit(label, (old) => ({ ...old, ...fields }), `about.${Object.keys(fields).join()}`);
  const option = (changed: { workflow: string | null } | { reviewPolicy: string | null }): void => {
    const options = Object.fromEntries(
      Object.entries({ ...graph.options, ...changed }).filter(([, value]) => value !== undefined && value !== null),
    );
    set('change the options', { options });
  };
  const input = (name: string, value: string): void => {
    const { [name]: _old, ...rest } = graph.inputs;
    set(`change the input '${name}'`, { inputs: value ? { ...rest, [name]: value } : rest });
  };
  const inferred = order({ ...graph, options: {} });
  const names = [...new Set([...variables(graph), ...Object.keys(graph.inputs)])];
  return (
    <form className={css.form} onSubmit={(event) => event.preventDefault()} aria-label="The workflow">
      {issues
        .filter(({ task, field }) => task === undefined && field !== 'name' && graph.tasks.length > 0)
        .map(({ message }) => (
          <p key={message} className={css.bad}>
            {message}
          </p>
        ))}
      <Textarea
        label="What it is for"
        autosize
        minRows={2}
        maxRows={8}
        value={graph.description}
        onChange={(event) => set('change the description', { description: event.currentTarget.value })}
      />
      <Select
        label="Order of tasks"
        clearable
        placeholder={`${WORDS[inferred]}, as it is drawn`}
        data={ORDERS}
        value={graph.options.workflow ?? null}
        onChange={(value) => option({ workflow: value })}
      />
      <Select
        label="Reviews"
        clearable
        placeholder="As the server is configured"
        data={POLICIES}
        value={graph.options.reviewPolicy ?? null}
        onChange={(value) => option({ reviewPolicy: value })}
      />
      {names.length > 0 ? <h3>Defaults for inputs</h3> : null}
      {names.map((name) => (
        <TextInput
          key={name}
          label={name}
          placeholder="Asked for with every run"
          value={graph.inputs[name] ?? ''}
          onChange={(event) => input(name, event.currentTarget.value)}
        />
      ))}
      <p className={css.hint}>
        Choose a task on the canvas to change it.{' '}
        {names.length === 0 ? (
          <>
            Write <code>{'{topic}'}</code> in a task for something every run brings.
          </>
        ) : null}
      </p>
    </form>
  );
}
