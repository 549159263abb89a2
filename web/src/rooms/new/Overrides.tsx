import { Accordion, MultiSelect, Select, Textarea, TextInput } from '@mantine/core';
import type { PreconfiguredTask } from '../../api/types';
import { ToolsField } from '../../ui/ToolsField';
import { NO_OVERRIDE, type Override } from './draft';
import type { PartProps } from './New';
import css from './New.module.css';
import { t } from '../../words/t';

/** The changes of this run to the ensemble's tasks. */
export function Overrides({ capabilities, draft, change }: PartProps) {
  const set = (name: string, changed: Partial<Override>): void =>
    change({ overrides: { ...draft.overrides, [name]: { ...NO_OVERRIDE, ...draft.overrides[name], ...changed } } });
  return (
    <section className={css.card}>
      <header>
        <h2>{t('Tasks')}</h2>
      </header>
      <p className={css.hint}>{t('As configured, unless you change something for this run.')}</p>
      <Accordion variant="separated" chevronPosition="left" styles={{ label: { padding: '9px 0', fontSize: 13.5 } }}>
        {capabilities.preconfiguredTasks.map((task) => {
          const name = task.name ?? task.description.slice(0, 50);
          return (
            <Accordion.Item key={name} value={name}>
              <Accordion.Control>
                <strong>{name}</strong> <span className={css.hint}>{task.description}</span>
              </Accordion.Control>
              <Accordion.Panel>
                <Changes
                  task={task}
                  override={draft.overrides[name] ?? NO_OVERRIDE}
                  capabilities={capabilities}
                  set={(changed) => set(name, changed)}
                />
              </Accordion.Panel>
            </Accordion.Item>
          );
        })}
      </Accordion>
    </section>
  );
}

interface ChangesProps {
  task: PreconfiguredTask;
  override: Override;
  capabilities: PartProps['capabilities'];
  set: (changed: Partial<Override>) => void;
}

function Changes({ task, override, capabilities, set }: ChangesProps) {
  return (
    <div className={css.form}>
      <Textarea
        label={t('Description')}
        placeholder={task.description}
        autosize
        minRows={2}
        value={override.description}
        onChange={(event) => set({ description: event.currentTarget.value })}
      />
      <Textarea
        label={t('Further knowledge')}
        autosize
        minRows={2}
        value={override.additionalContext}
        onChange={(event) => set({ additionalContext: event.currentTarget.value })}
      />
      <div className={css.two}>
        <TextInput
          label={t('Expected output')}
          value={override.expectedOutput}
          onChange={(event) => set({ expectedOutput: event.currentTarget.value })}
        />
        <Select
          label={t('Model')}
          placeholder={t('As configured')}
          clearable
          data={capabilities.models.map(({ alias }) => alias)}
          value={override.model || null}
          onChange={(model) => set({ model: model ?? '' })}
        />
        <TextInput
          label={t('Rounds at most')}
          inputMode="numeric"
          placeholder="25"
          value={override.maxIterations}
          onChange={(event) => set({ maxIterations: event.currentTarget.value.replace(/\D/g, '') })}
        />
        <ToolsField
          label={t('More tools')}
          known={task.tools}
          value={override.addTools}
          onChange={(addTools) => set({ addTools })}
        />
        {task.tools.length > 0 ? (
          <MultiSelect
            label={t('Without tools')}
            data={task.tools}
            value={override.removeTools}
            onChange={(removeTools) => set({ removeTools })}
          />
        ) : null}
      </div>
    </div>
  );
}
