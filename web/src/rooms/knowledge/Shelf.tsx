import { FileButton } from '@mantine/core';
import { IconFileText, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { get, remove } from '../../api/client';
import { useRefusal } from '../../api/me';
import type { Answer } from '../../api/types';
import { ActButton, ActIcon } from '../../ui/Act';
import { ConfirmDelete } from '../../ui/ConfirmDelete';
import { DropArea } from '../../ui/DropArea';
import { bytes } from '../../ui/format';
import { Empty, ProblemNote } from '../../ui/Note';
import { Card } from '../../ui/Page';
import { Ago } from '../../ui/Time';
import { useAction } from '../../ui/useAction';
import css from './Knowledge.module.css';
import { collectionPath, documentAddress, documentPath } from './paths';
import { TAKEN, useUploads } from './useUploads';
import { t } from '../../words/t';
import { Said } from '../../words/Said';

type Listed = Answer<'GET /api/collections/{name}/documents'>['documents'][number];

/** The documents of a collection: opened, deleted, and added by dropping files. */
export function Shelf({ name, write }: { name: string; write: () => void }) {
  const refusal = useRefusal('run');
  const uploads = useUploads(name);
  const { data, error } = useQuery({
    queryKey: ['documents', name],
    queryFn: ({ signal }) =>
      get<Answer<'GET /api/collections/{name}/documents'>>(`${collectionPath(name)}/documents`, signal),
  });
  return (
    <DropArea says={t('Add to this collection')} take={refusal === undefined ? uploads.add : undefined}>
      <Card>
        <div className={css.tools}>
          <h2 className={css.heading}>{t('Documents')}</h2>
          <FileButton multiple accept={TAKEN} onChange={uploads.add}>
            {(props) => (
              <ActButton {...props} needs="run" size="xs" loading={uploads.isBusy}>
                {t('Add files')}
              </ActButton>
            )}
          </FileButton>
          <ActButton needs="run" size="xs" variant="default" onClick={write}>
            {t('Write a document')}
          </ActButton>
        </div>
        <p className={css.said} role="status">
          {uploads.said}
        </p>
        {uploads.refused.map(({ file, problem }) => (
          <ProblemNote key={file} what={t("'{file}' was not added", { file })} error={problem} />
        ))}
        {error ? <ProblemNote what={t('The documents could not be listed')} error={error} /> : null}
        {data?.documents.length === 0 ? (
          <Empty icon={IconFileText} title={t('No documents in it yet')}>
            <p>{t('Drop files here: texts, Markdown, HTML, CSV, PDF and DOCX.')}</p>
          </Empty>
        ) : (
          <ul className={css.list} aria-label={t('Documents')}>
            {data?.documents.map((document) => (
              <Row key={document.id} collection={name} document={document} />
            ))}
          </ul>
        )}
      </Card>
    </DropArea>
  );
}

function Row({ collection, document }: { collection: string; document: Listed }) {
  const { id, title, mediaType, bytes: size, createdAt, damaged, damagedReason } = document;
  const [deleting, setDeleting] = useState(false);
  const erase = useAction(t('Deleting'), () => remove(documentPath(collection, id)));
  return (
    <li className={css.row}>
      <div className={css.about}>
        <Link to={documentAddress(collection, id)}>{title}</Link>
        <small>{mediaType}</small>
        <small>{bytes(size)}</small>
        {damaged ? <small title={damagedReason}>{t('cannot be read')}</small> : null}
        <small>
          <Said of="added {ago}" ago={<Ago at={createdAt} />} />
        </small>
      </div>
      <ActIcon
        needs="run"
        variant="subtle"
        color="gray"
        aria-label={t('Delete {title}', { title })}
        loading={erase.isPending}
        onClick={() => setDeleting(true)}
      >
        <IconTrash size={16} />
      </ActIcon>
      <ConfirmDelete
        what={title}
        means={t('Chats and agents will not find it any more.')}
        opened={deleting}
        close={() => setDeleting(false)}
        confirm={() => {
          setDeleting(false);
          erase.mutate();
        }}
      />
    </li>
  );
}
