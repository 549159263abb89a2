import { Accordion, Button, Group, MultiSelect, Select, Textarea, TextInput } from '@mantine/core';
import { IconCopy, IconPlugConnected, IconTrash } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';
import { useCapabilities } from '../../api/queries';
import { AgentFields } from '../../ui/AgentFields';
import { ToolsField } from '../../ui/ToolsField';
import type { Issue } from '../../workflow/check';
import { change, downstream, type Fields, type Graph, type Task, titleOf } from '../../workflow/graph';
import type { EditorStore } from '../../workflow/store';
import css from './Editor.module.css';

const REVIEWS = [
  { value: '', label: 'As the workflow says' },
  { value: 'required', label: 'A person reviews it' },
  { value: 'skip', label: 'Nobody reviews it' },
];

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
}

/** One task beside the canvas, every field of it. */
export function TaskForm({ store, graph, task, issues, isNew, duplicate, remove, link }: TaskFormProps) {
  const { data: capabilities } = useCapabilities();
  const name = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (isNew) name.current?.focus();
  }, [isNew, task.id]);
  const title = titleOf(graph, task.id);
  const set = (fields: Fields): void =>
    store.edit(`change '${title}'`, (old) => change(old, task.id, fields), `${task.id}.${Object.keys(fields).join()}`);
  const wrong = (field: string): string | undefined =>
    issues
      .filter((issue) => issue.task === task.id && issue.field === field)
      .map(({ message }) => message)
      .join('; ') || undefined;
  const others = issues.filter((issue) => issue.task === task.id && issue.field === undefined);
  // A task that waits for this one cannot be read by it.
  const waiting = downstream(graph, task.id);
  const readable = graph.tasks.filter(({ id }) => id !== task.id && (task.reads.includes(id) || !waiting.has(id)));
  const readers = graph.tasks.filter(({ reads }) => reads.includes(task.id)).map(({ id }) => titleOf(graph, id));
  return (
    <form className={css.form} onSubmit={(event) => event.preventDefault()} aria-label={`Task ${title}`}>
      {others.map(({ message }) => (
        <p key={message} className={css.bad} role="alert">
          {message}
        </p>
      ))}
      <TextInput
        ref={name}
        label="Name"
        placeholder={title}
        value={task.name}
        error={wrong('name')}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      <Textarea
        label="What to do"
        required
        autosize
        minRows={3}
        maxRows={12}
        description="{name} stands for an input"
        value={task.description}
        error={wrong('description')}
        onChange={(event) => set({ description: event.currentTarget.value })}
      />
      <Textarea
        label="Expected output"
        autosize
        minRows={1}
        maxRows={6}
        value={task.expectedOutput}
        error={wrong('expectedOutput')}
        onChange={(event) => set({ expectedOutput: event.currentTarget.value })}
      />
      <MultiSelect
        label="Reads the output of"
        placeholder={task.reads.length > 0 ? '' : readable.length > 0 ? 'Nothing' : 'There is no other task'}
        data={readable.map(({ id }) => ({ value: id, label: titleOf(graph, id) }))}
        value={task.reads}
        error={wrong('reads')}
        onChange={(reads) => set({ reads })}
      />
      {readers.length > 0 ? <p className={css.hint}>Read by {readers.join(', ')}.</p> : null}
      <ToolsField label="Tools" value={task.tools} error={wrong('tools')} onChange={(tools) => set({ tools })} />
      <Select
        label="Model"
        placeholder="The usual one"
        clearable
        data={aliases(capabilities?.models.map(({ alias }) => alias) ?? [], task.model)}
        value={task.model || null}
        error={wrong('model')}
        onChange={(model) => set({ model: model ?? '' })}
      />
      <Accordion
        variant="separated"
        chevronPosition="left"
        defaultValue={task.role || wrong('role') ? 'agent' : wrong('outputSchema') ? 'output' : null}
        styles={{ label: { padding: '9px 0', fontSize: 13.5 } }}
      >
        <Accordion.Item value="agent">
          <Accordion.Control>
            Agent{task.role ? <span className={css.hint}> · {task.role}</span> : null}
          </Accordion.Control>
          <Accordion.Panel>
            <AgentFields agent={task} error={wrong('role')} set={set} />
          </Accordion.Panel>
        </Accordion.Item>
        <Accordion.Item value="output">
          <Accordion.Control>Output, review and limits</Accordion.Control>
          <Accordion.Panel>
            <OutputFields task={task} set={set} wrong={wrong} />
          </Accordion.Panel>
        </Accordion.Item>
      </Accordion>
      <Group gap={6}>
        <Button size="xs" variant="default" leftSection={<IconPlugConnected size={15} />} onClick={link}>
          Connect
        </Button>
        <Button size="xs" variant="default" leftSection={<IconCopy size={15} />} onClick={duplicate}>
          Duplicate
        </Button>
        <Button size="xs" variant="subtle" color="red" leftSection={<IconTrash size={15} />} onClick={remove}>
          Remove
        </Button>
      </Group>
    </form>
  );
}

interface PartProps {
  task: Task;
  set: (fields: Fields) => void;
  wrong: (field: string) => string | undefined;
}

function OutputFields({ task, set, wrong }: PartProps) {
  return (
    <div className={css.form}>
      <Textarea
        label="What it should know besides"
        autosize
        minRows={2}
        maxRows={8}
        value={task.additionalContext}
        onChange={(event) => set({ additionalContext: event.currentTarget.value })}
      />
      <Select
        label="Review"
        data={REVIEWS}
        value={task.review}
        allowDeselect={false}
        onChange={(review) => set({ review: (review ?? '') as Task['review'] })}
      />
      <TextInput
        label="Rounds at most"
        inputMode="numeric"
        placeholder="25"
        value={task.maxIterations}
        error={wrong('maxIterations')}
        onChange={(event) => set({ maxIterations: event.currentTarget.value.replace(/\D/g, '') })}
      />
      <Textarea
        label="Output schema"
        description="A JSON Schema; an answer that does not fit goes back to the model"
        placeholder={'{ "type": "object" }'}
        autosize
        minRows={3}
        maxRows={14}
        styles={{ input: { fontFamily: 'var(--mono)', fontSize: 12.5 } }}
        value={task.outputSchema}
        error={wrong('outputSchema')}
        onChange={(event) => set({ outputSchema: event.currentTarget.value })}
      />
    </div>
  );
}

/** The aliases to choose from, with the chosen one when it is no longer configured. */
function aliases(known: string[], selected: string): string[] {
  return selected && !known.includes(selected) ? [...known, selected] : known;
}
