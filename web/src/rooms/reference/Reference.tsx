import { Skeleton, TextInput } from '@mantine/core';
import { IconSearchOff } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { get } from '../../api/client';
import { grouped } from '../../ui/grouped';
import { Empty, ProblemNote } from '../../ui/Note';
import { Card, Page } from '../../ui/Page';
import { useParamsInAddress } from '../../ui/useParamsInAddress';
import { type Description, type Operation, operations } from './description';
import { OneOperation } from './OneOperation';
import css from './Reference.module.css';
import { t } from '../../words/t';

/** The API as it describes itself, to be read and tried. */
export default function Reference() {
  const { data, error } = useQuery({
    queryKey: ['openapi'],
    queryFn: ({ signal }) => get<Description>('/openapi.json', signal),
    staleTime: Infinity,
  });
  return (
    <Page
      title={t('API')}
      actions={
        <span className={css.files}>
          <a href="/openapi.json">{t('openapi.json')}</a>
          <a href="/schemas/frames.json">{t('frames.json')}</a>
        </span>
      }
    >
      {error ? <ProblemNote what={t('The description could not be read')} error={error} /> : null}
      {data ? <Operations description={data} /> : error ? null : <Skeleton height={320} radius={10} />}
    </Page>
  );
}

function Operations({ description }: { description: Description }) {
  const [params, change] = useParamsInAddress();
  const wanted = params.get('q') ?? '';
  const all = useMemo(() => operations(description), [description]);
  const found = all.filter((each) => matches(each, wanted.toLowerCase()));
  const about = new Map(description.tags?.map((tag) => [tag.name, tag.description]));
  return (
    <>
      <p className={css.about}>{description.info.description}</p>
      <TextInput
        className={css.search}
        size="xs"
        aria-label={t('Search requests')}
        placeholder={t('Search requests')}
        value={wanted}
        onChange={(event) => change({ q: event.currentTarget.value || undefined })}
      />
      {found.length === 0 ? (
        <Card>
          <Empty icon={IconSearchOff} title={t('No request matches')} />
        </Card>
      ) : null}
      {[...grouped(found, ({ tag }) => tag)].map(([tag, own]) => (
        <section key={tag} className={css.section} aria-label={tag}>
          <header>
            <h2 translate="no">{tag.charAt(0).toUpperCase() + tag.slice(1)}</h2>
            <span>{about.get(tag)}</span>
          </header>
          <Card>
            {own.map((operation) => (
              <OneOperation
                key={`${operation.method} ${operation.path}`}
                description={description}
                operation={operation}
              />
            ))}
          </Card>
        </section>
      ))}
    </>
  );
}

function matches({ method, path, summary }: Operation, wanted: string): boolean {
  return `${method} ${path} ${summary}`.toLowerCase().includes(wanted);
}
