import { FileButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { get, remove, upload } from '../../api/client';
import { useRefusal } from '../../api/me';
import type { Answer } from '../../api/types';
import { ActButton } from '../../ui/Act';
import { ConfirmDelete } from '../../ui/ConfirmDelete';
import { DropArea } from '../../ui/DropArea';
import { bytes } from '../../ui/format';
import { ProblemNote } from '../../ui/Note';
import { Card, Page } from '../../ui/Page';
import { Ago } from '../../ui/Time';
import { useAction } from '../../ui/useAction';
import { Back } from './Documents';
import css from './Knowledge.module.css';
import { collectionAddress, documentPath } from './paths';
import { TAKEN } from './useUploads';
import { WriteDocument } from './WriteDocument';
import { plural, t } from '../../words/t';

type Document = Answer<'GET /api/collections/{name}/documents/{id}'>;

/** One document of a collection: its text as it is searched, changed, replaced by a file, or deleted. */
export function OneDocument({ collection, id }: { collection: string; id: string }) {
  const path = documentPath(collection, id);
  const { data, error } = useQuery({
    queryKey: ['document', collection, id],
    queryFn: ({ signal }) => get<Document>(path, signal),
    retry: false,
  });
  return (
    <Page
      title={data?.title ?? t('Document')}
      actions={
        <>
          <Back to={collectionAddress(collection)}>{t('Back to {name}', { name: collection })}</Back>
          {data ? <Actions collection={collection} document={data} /> : null}
        </>
      }
    >
      {error ? <ProblemNote what={t('The document could not be read')} error={error} /> : null}
      {data ? <Words document={data} path={path} /> : null}
    </Page>
  );
}

function Words({ document, path }: { document: Document; path: string }) {
  const { title, mediaType, bytes: size, pages, createdAt, content } = document;
  const refusal = useRefusal('run');
  const replace = useAction(t('Replacing the document'), (file: File) => upload('PUT', path, file));
  const take = ([file]: File[]): void => {
    if (file) replace.mutate(file);
  };
  return (
    <DropArea says={t('Replace this document')} take={refusal === undefined ? take : undefined}>
      <Card>
        <div className={css.tools}>
          <p className={css.facts}>
            {mediaType} · {bytes(size)}
            {pages === undefined ? '' : ` · ${plural(pages, '{n} page', '{n} pages')}`} · <Ago at={createdAt} />
          </p>
          <FileButton accept={TAKEN} onChange={(file) => take(file ? [file] : [])}>
            {(props) => (
              <ActButton {...props} needs="run" size="xs" variant="default" loading={replace.isPending}>
                {t('Replace by a file')}
              </ActButton>
            )}
          </FileButton>
        </div>
        <pre className={css.text} tabIndex={0} role="region" aria-label={t('Text of {title}', { title })}>
          {content}
        </pre>
      </Card>
    </DropArea>
  );
}

function Actions({ collection, document }: { collection: string; document: Document }) {
  const navigate = useNavigate();
  const [doing, setDoing] = useState<'writing' | 'deleting'>();
  const erase = useAction(
    t('Deleting'),
    () => remove(documentPath(collection, document.id)),
    () => void navigate(collectionAddress(collection)),
  );
  const close = (): void => setDoing(undefined);
  return (
    <>
      <ActButton needs="run" size="xs" variant="default" onClick={() => setDoing('writing')}>
        {t('Change the text')}
      </ActButton>
      <ActButton needs="run" size="xs" variant="subtle" color="red" onClick={() => setDoing('deleting')}>
        {t('Delete the document')}
      </ActButton>
      <WriteDocument collection={collection} document={document} opened={doing === 'writing'} close={close} />
      <ConfirmDelete
        what={document.title}
        means={t('Chats and agents will not find it any more.')}
        opened={doing === 'deleting'}
        close={close}
        confirm={() => erase.mutate()}
      />
    </>
  );
}
