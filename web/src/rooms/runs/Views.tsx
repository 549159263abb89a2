import { ActionIcon, Button, Popover, TextInput } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { IconBookmark, IconX } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { useNavigate } from 'react-router';
import { type Filters, searchOf } from './filters';
import css from './Runs.module.css';
import { t } from '../../words/t';

/** Views kept in a browser; more would not be a list to choose from. */
const KEPT_MAX = 50;

interface View {
  name: string;
  search: string;
}

/** Filters under a name of the person's own, kept in this browser. */
export function Views({ filters }: { filters: Filters }) {
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const [views, setViews] = useLocalStorage<View[]>({ key: 'consort.runs.views', defaultValue: [] });
  const [name, setName] = useState('');
  const search = searchOf({ ...filters, page: 1 });
  const save = (event: FormEvent): void => {
    event.preventDefault();
    const view = { name: name.trim(), search };
    if (!view.name) return;
    setViews([...views.filter((old) => old.name !== view.name), view].slice(-KEPT_MAX));
    setName('');
  };
  const show = (view: View): void => {
    setOpen(false);
    void navigate({ search: view.search });
  };
  const current = views.find((view) => view.search === search);
  return (
    <Popover position="bottom-start" shadow="md" trapFocus opened={isOpen} onChange={setOpen}>
      <Popover.Target>
        <Button
          size="xs"
          variant={current ? 'light' : 'default'}
          leftSection={<IconBookmark size={15} />}
          onClick={() => setOpen(!isOpen)}
        >
          {current?.name ?? t('Views')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown className={css.views}>
        {views.length === 0 ? <p className={css.muted}>{t('No saved views yet')}</p> : null}
        {views.map((view) => (
          <div key={view.name} className={css.view}>
            <Button size="xs" variant="subtle" justify="start" onClick={() => show(view)}>
              {view.name}
            </Button>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t('Delete the view {name}', { name: view.name })}
              onClick={() => setViews(views.filter((other) => other !== view))}
            >
              <IconX size={14} />
            </ActionIcon>
          </div>
        ))}
        <form className={css.newView} onSubmit={save}>
          <TextInput
            size="xs"
            aria-label={t('Name of the view')}
            placeholder={t('Save these filters as')}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Button size="xs" type="submit" disabled={!name.trim()}>
            {t('Save')}
          </Button>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}
