import { NumberInput, Select, Switch, TagsInput, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type KeyboardEvent, useState } from 'react';
import { post } from '../api/client';
import type { Invoked } from '../api/types';
import { ActButton } from './Act';
import { duration } from './format';
import { Json } from './Json';
import { ProblemNote } from './Note';
import { type Field, fields, toArguments } from './schema';
import { Text } from './Text';
import css from './ToolForm.module.css';
import { t } from '../words/t';

/** Calls a tool with what its schema asks for, and shows what it answers. */
export function ToolForm({ name, schema, effect }: { name: string; schema: unknown; effect?: string | undefined }) {
  const all = fields(schema);
  const [typed, setTyped] = useState<Record<string, string>>({});
  const call = useMutation({
    mutationFn: async () =>
      post<Invoked>(`/api/tools/${encodeURIComponent(name)}/invoke`, { input: toArguments(all, typed) }),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    call.mutate();
  };
  return (
    <form className={css.form} onSubmit={submit} aria-label={t('Call {name}', { name })}>
      {all.length === 0 ? <p className={css.quiet}>{t('It takes no arguments.')}</p> : null}
      {all.map((field) => (
        <Input
          key={field.name}
          field={field}
          value={typed[field.name] ?? ''}
          set={(value) => setTyped({ ...typed, [field.name]: value })}
        />
      ))}
      {effect === 'once' ? (
        <p className={css.quiet}>{t('This has an effect; it is done once each time you call it.')}</p>
      ) : null}
      <ActButton needs="tools" type="submit" size="xs" w="fit-content" loading={call.isPending}>
        {t('Call {name}', { name })}
        <kbd className={css.key}>Ctrl ↵</kbd>
      </ActButton>
      {call.error ? <ProblemNote what={t('It could not be called')} error={call.error} /> : null}
      {call.data ? <Answer answer={call.data} /> : null}
    </form>
  );
}

function Answer({ answer }: { answer: Invoked }) {
  const isFailed = answer.status === 'FAILED';
  return (
    <div className={css.answer} data-failed={isFailed || undefined} role="status">
      {answer.data === undefined ? (
        <Text text={answer.output ?? answer.errorMessage ?? ''} />
      ) : (
        <Json value={answer.data} />
      )}
      <small>
        {isFailed
          ? t('failed in {time}', { time: duration(answer.durationMs) })
          : t('answered in {time}', { time: duration(answer.durationMs) })}
      </small>
    </div>
  );
}

function Input({ field, value, set }: { field: Field; value: string; set: (value: string) => void }) {
  const shared = {
    label: field.name,
    description: field.about || undefined,
    required: field.isNeeded,
    placeholder: field.usual || (field.kind === 'json' ? 'JSON' : ''),
  };
  const typed = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
  };
  switch (field.kind) {
    case 'choice':
      return (
        <Select
          {...shared}
          data={field.choices}
          value={value || null}
          onChange={(choice) => set(choice ?? '')}
          clearable={!field.isNeeded}
        />
      );
    case 'flag':
      return (
        <Switch
          label={field.name}
          description={field.about}
          checked={(value || field.usual) === 'true'}
          onChange={(event) => set(String(event.currentTarget.checked))}
        />
      );
    case 'number':
      return <NumberInput {...shared} value={value} onChange={(number) => set(String(number))} />;
    case 'words':
      return (
        <TagsInput
          {...shared}
          value={value === '' ? [] : value.split('\n')}
          onChange={(words) => set(words.join('\n'))}
        />
      );
    default:
      return (
        <Textarea
          {...shared}
          autosize
          minRows={1}
          maxRows={12}
          value={value}
          onChange={(event) => set(event.currentTarget.value)}
          onKeyDown={typed}
        />
      );
  }
}
