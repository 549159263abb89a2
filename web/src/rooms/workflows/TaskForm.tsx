import { Accordion, Button, Group, MultiSelect, Select, Textarea, TextInput } from '@mantine/core';
import { IconCopy, IconPlayerPlay, IconPlugConnected, IconTrash } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';
import { useCapabilities } from '../../api/queries';
import { ActButton } from '../../ui/Act';
import { AgentFields } from '../../ui/AgentFields';
import { ToolsField } from '../../ui/ToolsField';
import type { Issue } from '../../workflow/check';
import { change, downstream, type Fields, type Graph, groupOf, isBack, type Task, titleOf } from '../../workflow/graph';
import type { EditorStore } from '../../workflow/store';
import { BranchFields } from './BranchFields';
import css from './Editor.module.css';
import { OutputFields } from './OutputFields';
import { t } from '../../words/t';
import { Said } from '../../words/Said';

interface TaskFormProps {
  store: EditorStore;
  graph: Graph;
  task: Task;
  issues: readonly Issue[];
  /** Whether it was just added, so that its name is asked for at once. */
  isNew: boolean;
  duplicate: () => void;
  remove: () => void;
  link: () => void;
  /** Opens the dialog that runs this task alone. */
  tryOut: () => void;
}

/** One task beside the canvas, every field of it. */
export function TaskForm({ store, graph, task, issues, isNew, duplicate, remove, link, tryOut }: TaskFormProps) {
  const { data: capabilities } = useCapabilities();
  const name = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (isNew) name.current?.focus();
  }, [isNew, task.id]);
  const title = titleOf(graph, task.id);
  const group = groupOf(graph, task.id);
  const set = (fields: Fields): void =>
    store.edit(
      t("change '{title}'", { title }),
      (old) => change(old, task.id, fields),
      `${task.id}.${Object.keys(fields).join()}`,
    );
  const wrong = (field: string): string | undefined =>
    issues
      .filter((issue) => issue.task === task.id && issue.field === field)
      .map(({ message }) => message)
      .join('; ') || undefined;
  const others = issues.filter((issue) => issue.task === task.id && issue.field === undefined);
  // A task that waits for this one cannot be read by it.
  const waiting = downstream(graph, task.id);
  const readable = graph.tasks.filter(
    ({ id }) => id !== task.id && (task.reads.includes(id) || !waiting.has(id) || isBack(graph, id, task.id)),
  );
  const readers = graph.tasks.filter(({ reads }) => reads.includes(task.id)).map(({ id }) => titleOf(graph, id));
  return (
    <form className={css.form} onSubmit={(event) => event.preventDefault()} aria-label={t('Task {title}', { title })}>
      {others.map(({ message }) => (
        <p key={message} className={css.bad} role="alert">
          {message}
        </p>
      ))}
      <TextInput
        ref={name}
        label={t('Name')}
        placeholder={title}
        value={task.name}
        error={wrong('name')}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      <Textarea
        label={t('Description')}
        required
        autosize
        minRows={3}
        maxRows={12}
        description={t('{name} stands for an input', { name: '{name}' })}
        value={task.description}
        error={wrong('description')}
        onChange={(event) => set({ description: event.currentTarget.value })}
      />
      <Textarea
        label={t('Expected output')}
        autosize
        minRows={1}
        maxRows={6}
        value={task.expectedOutput}
        error={wrong('expectedOutput')}
        onChange={(event) => set({ expectedOutput: event.currentTarget.value })}
      />
      <MultiSelect
        label={t('Reads the output of')}
        placeholder={task.reads.length > 0 ? '' : readable.length > 0 ? t('Nothing') : t('There is no other task')}
        data={readable.map(({ id }) => ({ value: id, label: titleOf(graph, id) }))}
        value={task.reads}
        error={wrong('reads')}
        onChange={(reads) => set({ reads })}
      />
      {group ? (
        <p className={css.hint}>
          <Said
            of="In the group '{name}'. {button}"
            name={group.name}
            button={
              <Button size="compact-xs" variant="subtle" onClick={() => store.select(group.tasks)}>
                {t('Change the group')}
              </Button>
            }
          />
        </p>
      ) : null}
      {readers.length > 0 ? <p className={css.hint}>{t('Read by {names}.', { names: readers.join(', ') })}</p> : null}
      <ToolsField label={t('Tools')} value={task.tools} error={wrong('tools')} onChange={(tools) => set({ tools })} />
      <Select
        label={t('Model')}
        placeholder={t('The default model')}
        clearable
        data={aliases(capabilities?.models.map(({ alias }) => alias) ?? [], task.model)}
        value={task.model || null}
        error={wrong('model')}
        onChange={(model) => set({ model: model ?? '' })}
      />
      <Accordion
        variant="separated"
        chevronPosition="left"
        defaultValue={
          task.role || wrong('role')
            ? 'agent'
            : wrong('outputSchema')
              ? 'output'
              : wrong('when') || wrong('forEach')
                ? 'branch'
                : null
        }
        styles={{ label: { padding: '9px 0', fontSize: 13.5 } }}
      >
        <Accordion.Item value="agent">
          <Accordion.Control>
            {t('Agent')}
            {task.role ? <span className={css.hint}> · {task.role}</span> : null}
          </Accordion.Control>
          <Accordion.Panel>
            <AgentFields agent={task} error={wrong('role')} set={set} />
          </Accordion.Panel>
        </Accordion.Item>
        <Accordion.Item value="branch">
          <Accordion.Control>
            {t('Condition and items')}
            {task.when || task.forEach ? <span className={css.hint}> · {task.when || task.forEach}</span> : null}
          </Accordion.Control>
          <Accordion.Panel>
            <BranchFields of={task} set={set} wrong={wrong} what="task" />
          </Accordion.Panel>
        </Accordion.Item>
        <Accordion.Item value="output">
          <Accordion.Control>{t('Output, review and limits')}</Accordion.Control>
          <Accordion.Panel>
            <OutputFields task={task} set={set} wrong={wrong} />
          </Accordion.Panel>
        </Accordion.Item>
      </Accordion>
      <Group gap={6}>
        <ActButton
          needs="run"
          size="xs"
          variant="default"
          leftSection={<IconPlayerPlay size={15} />}
          disabled={!task.description.trim()}
          onClick={tryOut}
        >
          {t('Run this task')}
        </ActButton>
        <Button size="xs" variant="default" leftSection={<IconPlugConnected size={15} />} onClick={link}>
          {t('Connect')}
        </Button>
        <Button size="xs" variant="default" leftSection={<IconCopy size={15} />} onClick={duplicate}>
          {t('Duplicate')}
        </Button>
        <Button size="xs" variant="subtle" color="red" leftSection={<IconTrash size={15} />} onClick={remove}>
          {t('Remove')}
        </Button>
      </Group>
    </form>
  );
}

/** The aliases to choose from, with the chosen one when it is no longer configured. */
function aliases(known: string[], selected: string): string[] {
  return selected && !known.includes(selected) ? [...known, selected] : known;
}
