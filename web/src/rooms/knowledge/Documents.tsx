import { Button, TextInput } from '@mantine/core';
import { IconBooks } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Link } from 'react-router';
import { get, post } from '../../api/client';
import type { Answer } from '../../api/types';
import { ActButton } from '../../ui/Act';
import { Empty, ProblemNote } from '../../ui/Note';
import { Card, Page } from '../../ui/Page';
import { Ago } from '../../ui/Time';
import { useAction } from '../../ui/useAction';
import { useParamsInAddress } from '../../ui/useParamsInAddress';
import { OneCollection } from './Collection';
import css from './Knowledge.module.css';
import { OneDocument } from './OneDocument';
import { collectionAddress } from './paths';
import { plural, t } from '../../words/t';
import { Said } from '../../words/Said';

/** Collections of documents: agents and chats find passages in them. */
export default function Documents() {
  const [params] = useParamsInAddress();
  const chosen = params.get('collection');
  const { data, error } = useQuery({
    queryKey: ['collections'],
    queryFn: ({ signal }) => get<Answer<'GET /api/collections'>>('/api/collections', signal),
  });
  const document = params.get('document');
  if (chosen !== null && document !== null)
    return <OneDocument key={`${chosen}/${document}`} collection={chosen} id={document} />;
  if (chosen !== null) return <OneCollection key={chosen} name={chosen} />;
  return (
    <Page title={t('Documents')}>
      {error ? <ProblemNote what={t('The collections could not be listed')} error={error} /> : null}
      <Card>
        <NewCollection />
        {data?.collections.length === 0 ? (
          <Empty icon={IconBooks} title={t('No documents yet')}>
            <p>{t('A collection holds documents. Chats and agents search them for what they need.')}</p>
          </Empty>
        ) : (
          <ul className={css.list} aria-label={t('Collections')}>
            {data?.collections.map(({ name, documents, updatedAt, damaged, damagedReason }) => (
              <li key={name}>
                <Link to={collectionAddress(name)}>{name}</Link>
                <small>{plural(documents, '{n} document', '{n} documents')}</small>
                {damaged ? <small title={damagedReason}>{t('cannot be read')}</small> : null}
                <small>
                  <Said of="changed {ago}" ago={<Ago at={updatedAt} />} />
                </small>
              </li>
            ))}
          </ul>
        )}
      </Card>
    </Page>
  );
}

function NewCollection() {
  const [name, setName] = useState('');
  const make = useAction(
    t('Creating the collection'),
    () => post('/api/collections', { name: name.trim() }),
    () => setName(''),
  );
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (name.trim()) make.mutate();
  };
  return (
    <form className={css.tools} onSubmit={submit}>
      <TextInput
        label={t('New collection')}
        placeholder={t('Name of the collection')}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <ActButton needs="run" type="submit" loading={make.isPending} disabled={!name.trim()}>
        {t('Create')}
      </ActButton>
    </form>
  );
}

export function Back({ to, children }: { to: string; children: string }) {
  return (
    <Button component={Link} to={to} size="xs" variant="default">
      {children}
    </Button>
  );
}
