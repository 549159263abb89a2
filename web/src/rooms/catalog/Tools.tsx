import { Button, NumberInput, Select, Switch, Textarea } from '@mantine/core';
import { IconTool } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { post } from '../../api/client';
import { useCapabilities } from '../../api/queries';
import type { Invoked, ToolInfo } from '../../api/types';
import { duration } from '../../ui/format';
import { Empty, ProblemNote } from '../../ui/Note';
import { Card, Page } from '../../ui/Page';
import { Markdown } from '../../ui/Markdown';
import { Text } from '../../ui/Text';
import css from './Catalog.module.css';
import { type Field, fields, toArguments } from './schema';

/** The tools there are, what they touch, and a form to try those that may be called directly. */
export default function Tools() {
  const { data, error } = useCapabilities();
  return (
    <Page title="Tools">
      {error ? <ProblemNote what="The tools could not be listed" error={error} /> : null}
      {data?.tools.length === 0 ? <Card><Empty icon={IconTool} title="No tools are configured"><p>List some under <code>[tools]</code> in <code>consort.toml</code>.</p></Empty></Card> : null}
      <div className={css.tools}>{data?.tools.map((tool) => <Tool key={tool.name} tool={tool} />)}</div>
    </Page>
  );
}

const EFFECTS: Record<ToolInfo['effect'], string> = { read: 'reads only', idempotent: 'may be repeated', once: 'never repeated' };

function Tool({ tool }: { tool: ToolInfo }) {
  const [open, setOpen] = useState(false);
  return (
    <article className={css.tool}>
      <header>
        <h2>{tool.name}</h2>
        <span className={css.chip} data-tone={tool.permission === 'safe' || tool.permission === 'knowledge' ? undefined : 'warn'}>{tool.permission.replaceAll('_', ' ')}</span>
        <span className={css.chip}>{EFFECTS[tool.effect]}</span>
        {tool.unavailable ? <span className={css.chip} data-tone="bad">unavailable: {tool.unavailable}</span> : null}
        {tool.direct && !tool.unavailable ? <Button size="compact-sm" variant="default" aria-expanded={open} onClick={() => setOpen(!open)}>Try it</Button> : null}
      </header>
      <Markdown text={tool.description} />
      {open ? <Form tool={tool} /> : null}
    </article>
  );
}

function Form({ tool }: { tool: ToolInfo }) {
  const all = fields(tool.inputSchema);
  const [typed, setTyped] = useState<Record<string, string>>({});
  const call = useMutation({ mutationFn: async () => post<Invoked>(`/api/tools/${encodeURIComponent(tool.name)}/invoke`, { input: toArguments(all, typed) }) });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    call.mutate();
  };
  return (
    <form className={css.form} onSubmit={submit}>
      {all.map((field) => <Input key={field.name} field={field} value={typed[field.name] ?? ''} set={(value) => setTyped({ ...typed, [field.name]: value })} />)}
      <Button type="submit" size="xs" w="fit-content" loading={call.isPending}>Call {tool.name}</Button>
      {call.error ? <ProblemNote what="It could not be called" error={call.error} /> : null}
      {call.data ? (
        <div className={css.answer} data-failed={call.data.status === 'FAILED' || undefined} role="status">
          <Text text={call.data.output ?? call.data.errorMessage ?? ''} />
          <small>{call.data.status === 'FAILED' ? 'failed' : 'answered'} in {duration(call.data.durationMs)}</small>
        </div>
      ) : null}
    </form>
  );
}

function Input({ field, value, set }: { field: Field; value: string; set: (value: string) => void }) {
  const shared = { label: field.name, description: field.about || undefined, required: field.isNeeded };
  if (field.kind === 'choice') return <Select {...shared} data={field.choices} value={value || null} onChange={(choice) => set(choice ?? '')} />;
  if (field.kind === 'flag') return <Switch label={field.name} description={field.about} checked={value === 'true'} onChange={(event) => set(String(event.currentTarget.checked))} />;
  if (field.kind === 'number') return <NumberInput {...shared} value={value} onChange={(number) => set(String(number))} />;
  return <Textarea {...shared} autosize minRows={1} maxRows={12} placeholder={field.kind === 'json' ? 'JSON' : ''} value={value} onChange={(event) => set(event.currentTarget.value)} />;
}
