import { Button } from '@mantine/core';
import { IconFile, IconFolder } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { download, get, Problem, text } from '../../api/client';
import type { Answer } from '../../api/types';
import { bytes } from '../../ui/format';
import { Empty, ProblemNote } from '../../ui/Note';
import { Card, Page } from '../../ui/Page';
import { Ago } from '../../ui/Time';
import { useAction } from '../../ui/useAction';
import { useParamsInAddress } from '../../ui/useParamsInAddress';
import css from './Knowledge.module.css';
import { plural, t } from '../../words/t';
import { Said } from '../../words/Said';

/** Characters of a file that are shown; the whole is downloaded. */
const SHOWN_MAX = 200_000;

const address = (name: 'path' | 'file', path: string): string => `?${new URLSearchParams({ [name]: path })}`;

/** The files agents work on: folders, and what is in a file. */
export default function Files() {
  const [params] = useParamsInAddress();
  const file = params.get('file');
  const path = params.get('path') ?? file?.split('/').slice(0, -1).join('/') ?? '';
  return (
    <Page title={t('Files')}>
      <Card>
        <Crumbs path={file ?? path} />
        {file === null ? <Folder key={path} path={path} /> : <OneFile key={file} path={file} />}
      </Card>
    </Page>
  );
}

function Crumbs({ path }: { path: string }) {
  const parts = path.split('/').filter(Boolean);
  return (
    <nav className={css.crumbs} aria-label={t('Folders')}>
      <Link to="/files">{t('Workspace')}</Link>
      {parts.map((part, at) => (
        <span key={parts.slice(0, at + 1).join('/')}>
          / {at < parts.length - 1 ? <Link to={address('path', parts.slice(0, at + 1).join('/'))}>{part}</Link> : part}
        </span>
      ))}
    </nav>
  );
}

function Folder({ path }: { path: string }) {
  const { data, error } = useQuery({
    queryKey: ['workspace', path],
    queryFn: ({ signal }) =>
      get<Answer<'GET /api/workspace/files'>>(`/api/workspace/files?path=${encodeURIComponent(path)}`, signal),
    retry: false,
  });
  if (error instanceof Problem && error.code === 'NOT_CONFIGURED')
    return (
      <Empty icon={IconFolder} title={t('There is no workspace')}>
        <p>
          <Said
            of="Agents have files to work on once {code} names a folder under {code2} in {code3}."
            code={<code>workspace</code>}
            code2={<code>[server]</code>}
            code3={<code>consort.toml</code>}
          />
        </p>
      </Empty>
    );
  if (error) return <ProblemNote what={t('The folder could not be listed')} error={error} />;
  if (data?.length === 0)
    return (
      <Empty icon={IconFolder} title={t('Nothing is here yet')}>
        <p>{t('Agents with file tools read and write here.')}</p>
      </Empty>
    );
  return (
    <ul className={css.list} aria-label={t('Files')}>
      {data?.map(({ name, type, size, lastModified }) => {
        const inside = path ? `${path}/${name}` : name;
        const isFolder = type === 'directory';
        return (
          <li key={name}>
            {isFolder ? <IconFolder size={17} aria-hidden /> : <IconFile size={17} aria-hidden />}
            <Link to={address(isFolder ? 'path' : 'file', inside)}>{name}</Link>
            {isFolder || size === undefined ? null : <small>{bytes(size)}</small>}
            <small>{lastModified ? <Ago at={lastModified} /> : null}</small>
          </li>
        );
      })}
    </ul>
  );
}

function OneFile({ path }: { path: string }) {
  const source = `/api/workspace/file?path=${encodeURIComponent(path)}`;
  const { data, error } = useQuery({
    queryKey: ['workspace-file', path],
    queryFn: ({ signal }) => text(source, signal),
    retry: false,
  });
  const save = useAction(t('Downloading'), () => download(source, path.split('/').at(-1) ?? 'file'));
  if (error) return <ProblemNote what={t('The file could not be read')} error={error} />;
  return (
    <>
      <div className={css.tools}>
        <span>{data === undefined ? '' : plural(data.length, '{n} character', '{n} characters')}</span>
        <Button size="xs" variant="default" loading={save.isPending} onClick={() => save.mutate()}>
          {t('Download')}
        </Button>
      </div>
      <pre className={css.text} tabIndex={0} role="region" aria-label={t('Text of {path}', { path })}>
        {data?.slice(0, SHOWN_MAX)}
        {data && data.length > SHOWN_MAX ? '\n…' : ''}
      </pre>
    </>
  );
}
