import { TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { get, remove } from '../../api/client';
import type { Answer } from '../../api/types';
import { ActButton } from '../../ui/Act';
import { ConfirmDelete } from '../../ui/ConfirmDelete';
import { ProblemNote } from '../../ui/Note';
import { Card, Page } from '../../ui/Page';
import { useAction } from '../../ui/useAction';
import { Back } from './Documents';
import css from './Knowledge.module.css';
import { collectionPath, documentAddress } from './paths';
import { Shelf } from './Shelf';
import { WriteDocument } from './WriteDocument';
import { t } from '../../words/t';

/** One collection: searched as agents search it, and its documents. */
export function OneCollection({ name }: { name: string }) {
  const navigate = useNavigate();
  const [deleting, setDeleting] = useState(false);
  const [writing, setWriting] = useState(false);
  const erase = useAction(
    t('Deleting'),
    () => remove(collectionPath(name)),
    () => void navigate('/documents'),
  );
  return (
    <Page
      title={name}
      actions={
        <>
          <Back to="/documents">{t('All collections')}</Back>
          <ActButton needs="run" size="xs" variant="subtle" color="red" onClick={() => setDeleting(true)}>
            {t('Delete the collection')}
          </ActButton>
        </>
      }
    >
      <Card>
        <Search name={name} />
      </Card>
      <Shelf name={name} write={() => setWriting(true)} />
      <WriteDocument collection={name} opened={writing} close={() => setWriting(false)} />
      <ConfirmDelete
        what={name}
        means={t('The collection is erased with all of its documents.')}
        opened={deleting}
        close={() => setDeleting(false)}
        confirm={() => erase.mutate()}
      />
    </Page>
  );
}

function Search({ name }: { name: string }) {
  const [wanted, setWanted] = useState('');
  const [query] = useDebouncedValue(wanted.trim(), 250);
  const { data, error } = useQuery({
    queryKey: ['collection-search', name, query],
    queryFn: ({ signal }) =>
      get<Answer<'GET /api/collections/{name}/search'>>(
        `${collectionPath(name)}/search?q=${encodeURIComponent(query)}`,
        signal,
      ),
    enabled: query !== '',
  });
  return (
    <>
      <div className={css.tools}>
        <TextInput
          label={t('Find passages')}
          placeholder={t('Search as an agent would')}
          value={wanted}
          onChange={(event) => setWanted(event.currentTarget.value)}
        />
      </div>
      {error ? <ProblemNote what={t('The collection could not be searched')} error={error} /> : null}
      {query && data?.results.length === 0 ? (
        <p className={css.none}>{t('No passage was found with these words.')}</p>
      ) : null}
      {query && data && data.results.length > 0 ? (
        <ul className={css.list} aria-label={t('Passages')}>
          {data.results.map(({ documentId, title, snippet }, at) => (
            <li key={`${documentId}-${at}`}>
              <Link to={documentAddress(name, documentId)}>{title}</Link>
              <span className={css.long}>{snippet}</span>
            </li>
          ))}
        </ul>
      ) : null}
    </>
  );
}
