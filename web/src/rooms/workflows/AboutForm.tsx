import { Select, Textarea, TextInput } from '@mantine/core';
import type { Workflow } from '../../api/types';
import { printed } from '../../ui/format';
import type { Issue } from '../../workflow/check';
import { typedInput } from '../../workflow/convert';
import { type Graph, order, variables } from '../../workflow/graph';
import type { EditorStore } from '../../workflow/store';
import css from './Editor.module.css';
import { t } from '../../words/t';
import { Said } from '../../words/Said';

const WORDS: Record<Workflow, string> = {
  SEQUENTIAL: t('One after another'),
  PARALLEL: t('As soon as they are ready'),
  HIERARCHICAL: t('Handed out by a manager'),
};
const ORDERS = Object.entries(WORDS).map(([value, label]) => ({ value, label }));
const POLICIES = [
  { value: 'NEVER', label: t('No reviews') },
  { value: 'AFTER_EVERY_TASK', label: t('After every task') },
  { value: 'AFTER_LAST_TASK', label: t('After the last task') },
];

/** The workflow as a whole, while no task is selected. */
export function AboutForm({ store, graph, issues }: { store: EditorStore; graph: Graph; issues: readonly Issue[] }) {
  const set = (label: string, fields: Partial<Graph>): void =>
    store.edit(label, (old) => ({ ...old, ...fields }), `about.${Object.keys(fields).join()}`);
  const option = (changed: { workflow: string | null } | { reviewPolicy: string | null }): void => {
    const options = Object.fromEntries(
      Object.entries({ ...graph.options, ...changed }).filter(([, value]) => value !== undefined && value !== null),
    );
    set(t('change the options'), { options });
  };
  const input = (name: string, value: string): void => {
    const { [name]: _old, ...rest } = graph.inputs;
    set(t("change the input '{name}'", { name }), { inputs: value ? { ...rest, [name]: typedInput(value) } : rest });
  };
  const inferred = order({ ...graph, options: {} });
  const names = [...new Set([...variables(graph), ...Object.keys(graph.inputs)])];
  return (
    <form className={css.form} onSubmit={(event) => event.preventDefault()} aria-label={t('The workflow')}>
      {issues
        .filter(({ task, field }) => task === undefined && field !== 'name' && graph.tasks.length > 0)
        .map(({ message }) => (
          <p key={message} className={css.bad}>
            {message}
          </p>
        ))}
      <Textarea
        label={t('Description')}
        autosize
        minRows={2}
        maxRows={8}
        value={graph.description}
        onChange={(event) => set(t('change the description'), { description: event.currentTarget.value })}
      />
      <Select
        label={t('Order of tasks')}
        clearable
        placeholder={t('{value}, as it is drawn', { value: WORDS[inferred] })}
        data={ORDERS}
        value={graph.options.workflow ?? null}
        onChange={(value) => option({ workflow: value })}
      />
      <Select
        label={t('Reviews')}
        clearable
        placeholder={t('As the server is configured')}
        data={POLICIES}
        value={graph.options.reviewPolicy ?? null}
        onChange={(value) => option({ reviewPolicy: value })}
      />
      {names.length > 0 ? <h3>{t('Defaults for inputs')}</h3> : null}
      {names.map((name) => (
        <TextInput
          key={name}
          label={name}
          placeholder={t('Asked for with every run')}
          value={printed(graph.inputs[name] ?? '')}
          onChange={(event) => input(name, event.currentTarget.value)}
        />
      ))}
      <p className={css.hint}>
        {t('Choose a task on the canvas to change it.')}{' '}
        {names.length === 0 ? (
          <>
            <Said
              of="Write {code} in a task for a value that is given with every run."
              code={<code>{'{topic}'}</code>}
            />
          </>
        ) : null}
      </p>
    </form>
  );
}
