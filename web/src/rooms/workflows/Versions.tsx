import { Button, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { get } from '../../api/client';
import type { ListedVersion } from '../../api/types';
import { ProblemNote } from '../../ui/Note';
import { Ago } from '../../ui/Time';
import css from './Editor.module.css';
import { plural, t } from '../../words/t';
import { Said } from '../../words/Said';

const SHOWN = 20;

interface VersionsProps {
  id: string | undefined;
  /** The version on the canvas. */
  current: number | undefined;
  seen: number | undefined;
  look: (version: number | undefined) => void;
}

/** The saved versions, with the time and the author of each. */
export function Versions({ id, current, seen, look }: VersionsProps) {
  const [limit, setLimit] = useState(SHOWN);
  const { data, error } = useQuery({
    queryKey: ['workflow', id, 'history', current, limit],
    queryFn: ({ signal }) =>
      get<{ versions: ListedVersion[]; total: number }>(`/api/workflows/${id}/history?limit=${limit}`, signal),
    enabled: id !== undefined,
  });
  if (id === undefined)
    return (
      <p className={css.hint}>
        {t('Nothing is saved yet. Every save makes a version that can be looked at and restored.')}
      </p>
    );
  if (error) return <ProblemNote what={t('The versions could not be listed')} error={error} />;
  if (!data) return <Skeleton height={160} />;
  return (
    <>
      <ol className={css.versions} aria-label={t('Versions, the newest first')}>
        {data.versions.map(({ version, savedAt, savedBy, tasks }) => (
          <li key={version} data-chosen={version === (seen ?? current) || undefined}>
            <button
              type="button"
              aria-pressed={version === seen}
              onClick={() => look(version === current || version === seen ? undefined : version)}
            >
              <strong>{t('Version {version}', { version })}</strong>
              <span>{plural(tasks, '{n} task', '{n} tasks')}</span>
              <small>
                <Said of="{ago} by {savedBy}" ago={<Ago at={savedAt} />} savedBy={savedBy} />
                {version === current ? ` · ${t('on the canvas')}` : ''}
              </small>
            </button>
          </li>
        ))}
      </ol>
      {data.total > data.versions.length && limit < 100 ? (
        <Button size="xs" variant="default" onClick={() => setLimit(Math.min(100, limit + 40))}>
          {t('Show older')}
        </Button>
      ) : null}
    </>
  );
}
