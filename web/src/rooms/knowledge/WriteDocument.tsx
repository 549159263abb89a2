import { Group, Modal, Textarea, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { post, put } from '../../api/client';
import type { Answer } from '../../api/types';
import { ActButton } from '../../ui/Act';
import { useAction } from '../../ui/useAction';
import { collectionPath, documentPath } from './paths';
import { t } from '../../words/t';

interface WriteDocumentProps {
  collection: string;
  /** The document that is changed; absent: a new one. */
  document?: Answer<'GET /api/collections/{name}/documents/{id}'>;
  opened: boolean;
  close: () => void;
}

/** A document written or changed by hand. */
export function WriteDocument({ collection, document, opened, close }: WriteDocumentProps) {
  return (
    <Modal
      opened={opened}
      onClose={close}
      size="xl"
      title={document ? t('Change {title}', { title: document.title }) : t('Write a document')}
    >
      <Form collection={collection} {...(document ? { document } : {})} close={close} />
    </Modal>
  );
}

function Form({ collection, document, close }: Omit<WriteDocumentProps, 'opened'>) {
  const [title, setTitle] = useState(document?.title ?? '');
  const [content, setContent] = useState(document?.content ?? '');
  const isWhole = title.trim() !== '' && content.trim() !== '';
  const save = useAction(
    t('Saving the document'),
    () => {
      const body = { title: title.trim(), content };
      return document
        ? put(documentPath(collection, document.id), body)
        : post(`${collectionPath(collection)}/documents`, body);
    },
    close,
  );
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isWhole) save.mutate();
  };
  return (
    <form onSubmit={submit}>
      <TextInput
        label={t('Title')}
        data-autofocus
        value={title}
        onChange={(event) => setTitle(event.currentTarget.value)}
      />
      <Textarea
        label={t('Text')}
        mt="sm"
        autosize
        minRows={6}
        maxRows={20}
        value={content}
        onChange={(event) => setContent(event.currentTarget.value)}
      />
      <Group justify="flex-end" mt="md">
        <ActButton needs="run" type="submit" loading={save.isPending} disabled={!isWhole}>
          {document ? t('Save') : t('Add the document')}
        </ActButton>
      </Group>
    </form>
  );
}
