import { Button, TextInput } from '@mantine/core';
import { IconChevronRight } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { get } from '../../api/client';
import { Json } from '../../ui/Json';
import { ProblemNote } from '../../ui/Note';
import { type Description, type Field, fields, type Operation, type Schema, typeText } from './description';
import css from './Reference.module.css';
import { t } from '../../words/t';
import { Said } from '../../words/Said';

interface OperationProps {
  description: Description;
  operation: Operation;
}

/** A request: one line until it is opened. */
export function OneOperation({ description, operation }: OperationProps) {
  const [open, setOpen] = useState(false);
  const { method, path, summary } = operation;
  return (
    <div className={css.operation}>
      <button type="button" className={css.line} aria-expanded={open} onClick={() => setOpen(!open)}>
        <IconChevronRight size={14} aria-hidden />
        <span className={css.method} data-method={method} translate="no">
          {method}
        </span>
        <code>{path}</code>
        <span>{summary}</span>
      </button>
      {open ? <Details description={description} operation={operation} /> : null}
    </div>
  );
}

function Details({ description, operation }: OperationProps) {
  const { parameters, body, answers, about, scope, isTriable } = operation;
  const named: Field[] = parameters.map((each) => ({
    path: each.name,
    type: t('{value}, in the {in}', { value: typeText(each.schema ?? {}), in: each.in }),
    isNeeded: each.required ?? false,
    about: each.description ?? '',
  }));
  return (
    <div className={css.opened}>
      {about ? <p>{about}</p> : null}
      {scope ? (
        <p className={css.quiet}>
          <Said of="Where keys are configured, one with the scope {code}." code={<code>{scope}</code>} />
        </p>
      ) : null}
      {named.length > 0 ? <Fields title={t('Parameters')} rows={named} /> : null}
      {body ? <Body title={t('Body')} description={description} schema={body} /> : null}
      {answers
        .filter(({ status }) => !/^[45]/.test(status))
        .map((answer) => (
          <div key={answer.status} className={css.part}>
            <h3>
              {answer.status} <span>{answer.about}</span>
            </h3>
            {answer.example === undefined ? null : (
              <div className={css.example}>
                <Json value={answer.example} openTo={2} />
              </div>
            )}
            {answer.schema ? <Body description={description} schema={answer.schema} /> : null}
          </div>
        ))}
      {isTriable ? <Try operation={operation} /> : null}
    </div>
  );
}

function Body({ title, description, schema }: { title?: string; description: Description; schema: Schema }) {
  const rows = fields(description, schema);
  return rows.length > 0 ? <Fields title={title ?? typeText(schema)} rows={rows} /> : null;
}

function Fields({ title, rows }: { title: string; rows: Field[] }) {
  return (
    <div className={css.part}>
      <h3>{title}</h3>
      <dl className={css.fields}>
        {rows.map(({ path, type, isNeeded, about }) => (
          <div key={path}>
            <dt>
              <code>{path}</code>
              {isNeeded ? (
                <span className={css.needed} title={t('Always there')}>
                  *
                </span>
              ) : null}
            </dt>
            <dd>
              <code>{type}</code>
              {about ? <> {about}</> : null}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** Asks the server, with the key of this tab. */
function Try({ operation: { path, parameters } }: { operation: Operation }) {
  const asked = parameters.filter((each) => each.in === 'path' || each.in === 'query');
  const [typed, setTyped] = useState<Record<string, string>>({});
  const call = useMutation({ mutationFn: () => get<unknown>(address(path, asked, typed)) });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    call.mutate();
  };
  return (
    <form className={css.part} onSubmit={submit} aria-label={t('Try {path}', { path })}>
      <h3>{t('Try it')}</h3>
      <div className={css.inputs}>
        {asked.map(({ name, required }) => (
          <TextInput
            key={name}
            size="xs"
            label={name}
            required={required ?? false}
            value={typed[name] ?? ''}
            onChange={(event) => setTyped({ ...typed, [name]: event.currentTarget.value })}
          />
        ))}
      </div>
      <Button type="submit" size="xs" variant="default" w="fit-content" loading={call.isPending}>
        {t('Send')}
      </Button>
      {call.error ? <ProblemNote what={t('The server refused')} error={call.error} /> : null}
      {call.data === undefined ? null : (
        <div className={css.example} role="status">
          <Json value={call.data} openTo={2} />
        </div>
      )}
    </form>
  );
}

function address(path: string, asked: Operation['parameters'], typed: Record<string, string>): string {
  const query = new URLSearchParams(
    asked.filter((each) => each.in === 'query' && typed[each.name]).map(({ name }) => [name, typed[name] ?? '']),
  );
  const place = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(typed[name] ?? ''));
  return query.size > 0 ? `${place}?${query}` : place;
}
