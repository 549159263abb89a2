import { useQuery } from '@tanstack/react-query';
import { IconBrain } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router';
import { get, remove } from '../../api/client';
import type { Answer } from '../../api/types';
import { ActButton } from '../../ui/Act';
import { ConfirmDelete } from '../../ui/ConfirmDelete';
import { Empty, ProblemNote } from '../../ui/Note';
import { Card, Page } from '../../ui/Page';
import { Ago } from '../../ui/Time';
import { useAction } from '../../ui/useAction';
import { useParamsInAddress } from '../../ui/useParamsInAddress';
import { Back } from './Documents';
import css from './Knowledge.module.css';
import { plural, t } from '../../words/t';
import { Said } from '../../words/Said';

/** The memory of runs, by scope. */
export default function Remembered() {
  const [params] = useParamsInAddress();
  const chosen = params.get('scope');
  const { data, error } = useQuery({
    queryKey: ['memory'],
    queryFn: ({ signal }) => get<Answer<'GET /api/memory'>>('/api/memory?limit=200', signal),
    enabled: chosen === null,
  });
  if (chosen !== null) return <OneScope key={chosen} scope={chosen} />;
  return (
    <Page title={t('Memory')}>
      {error ? <ProblemNote what={t('The memory could not be listed')} error={error} /> : null}
      <Card>
        {data?.scopes.length === 0 ? (
          <Empty icon={IconBrain} title={t('Nothing is remembered yet')}>
            <p>
              {t('Tasks with a memory store their outputs, and later runs read them.')}{' '}
              <Said of="Facts about you are under {link}." link={<Link to="/chat?memory">{t('Chat')}</Link>} />
            </p>
          </Empty>
        ) : (
          <ul className={css.list} aria-label={t('Memories of runs')}>
            {data?.scopes.map(({ scope, entries, damaged, damagedReason }) => (
              <li key={scope}>
                <Link to={`?${new URLSearchParams({ scope })}`}>{scope}</Link>
                {damaged ? <small title={damagedReason}>{t('cannot be read')}</small> : null}
                <small>{plural(entries, '{n} entry', '{n} entries')}</small>
              </li>
            ))}
          </ul>
        )}
      </Card>
    </Page>
  );
}

function OneScope({ scope }: { scope: string }) {
  const [deleting, setDeleting] = useState(false);
  const path = `/api/memory/${encodeURIComponent(scope)}`;
  const { data, error } = useQuery({
    queryKey: ['memory', scope],
    queryFn: ({ signal }) => get<Answer<'GET /api/memory/{scope}'>>(path, signal),
  });
  const forget = useAction(t('Forgetting'), (key: string) => remove(`${path}/${encodeURIComponent(key)}`));
  const forgetAll = useAction(
    t('Forgetting'),
    () => remove(path),
    () => setDeleting(false),
  );
  return (
    <Page
      title={scope}
      actions={
        <>
          <Back to="/memory">{t('The whole memory')}</Back>
          <ActButton needs="run" size="xs" variant="subtle" color="red" onClick={() => setDeleting(true)}>
            {t('Forget everything here')}
          </ActButton>
        </>
      }
    >
      {error ? <ProblemNote what={t('It could not be read')} error={error} /> : null}
      <Card>
        {data?.entries.length === 0 ? <p className={css.none}>{t('Nothing is remembered here.')}</p> : null}
        <ul className={css.list} aria-label={t('Entries')}>
          {data?.entries.map(({ key, text, createdAt }) => (
            <li key={key}>
              <span className={css.long}>{text}</span>
              <small>
                <Ago at={createdAt} />
              </small>
              <ActButton
                needs="run"
                size="xs"
                variant="default"
                aria-label={t('Forget {value}', { value: text.slice(0, 40) })}
                onClick={() => forget.mutate(key)}
              >
                {t('Forget')}
              </ActButton>
            </li>
          ))}
        </ul>
      </Card>
      <ConfirmDelete
        what={t('everything in {scope}', { scope })}
        means={t('Later runs will not remember any of it.')}
        opened={deleting}
        close={() => setDeleting(false)}
        confirm={() => forgetAll.mutate()}
      />
    </Page>
  );
}
