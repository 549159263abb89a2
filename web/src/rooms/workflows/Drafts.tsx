import { Button } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router';
import { Card } from '../../ui/Page';
import { Ago } from '../../ui/Time';
import { dropDraft, listDrafts } from '../../workflow/drafts';
import css from './Workflows.module.css';
import { plural, t } from '../../words/t';
import { Said } from '../../words/Said';

/** The unsaved changes that this browser keeps. */
export function Drafts({ names }: { names: ReadonlyMap<string, string> }) {
  const [drafts, setDrafts] = useState(() => listDrafts(localStorage));
  if (drafts.length === 0) return null;
  const drop = (id: string | undefined): void => {
    dropDraft(localStorage, id);
    setDrafts(listDrafts(localStorage));
  };
  return (
    <Card className={css.drafts ?? ''}>
      <h2>{t('Drafts in this browser')}</h2>
      <ul className={css.list} aria-label={t('Drafts')}>
        {drafts.map(({ id, draft: { graph, version, at } }) => {
          const name = graph.name || (id && names.get(id)) || t('Without a name');
          return (
            <li key={id ?? ''} className={css.row}>
              <span className={css.icon} aria-hidden>
                <IconPencil size={18} stroke={1.6} />
              </span>
              <span className={css.what}>
                <Link className={css.name} to={`/workflows/${id ?? 'new'}`}>
                  {name}
                </Link>
                <span className={css.about}>
                  {version === undefined
                    ? t('Never saved')
                    : t('A change of version {version}, not saved', { version })}
                </span>
              </span>
              <span className={css.facts}>
                <span>{plural(graph.tasks.length, '{n} task', '{n} tasks')}</span>
                <span>
                  <Said of="changed {ago}" ago={<Ago at={new Date(at).toISOString()} />} />
                </span>
              </span>
              <Button
                className={css.more ?? ''}
                size="xs"
                variant="default"
                aria-label={t('Discard the draft {name}', { name })}
                onClick={() => drop(id)}
              >
                {t('Discard')}
              </Button>
            </li>
          );
        })}
      </ul>
    </Card>
  );
}
