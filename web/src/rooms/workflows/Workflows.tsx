import { ActionIcon, Button, Menu, Skeleton } from '@mantine/core';
import { IconDots, IconPencil, IconPlus, IconSchema, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { get, remove } from '../../api/client';
import type { ListedWorkflow } from '../../api/types';
import { ConfirmDelete } from '../../ui/ConfirmDelete';
import { Empty, ProblemNote } from '../../ui/Note';
import { Card, Page } from '../../ui/Page';
import { Ago } from '../../ui/Time';
import { useAction } from '../../ui/useAction';
import { useParamsInAddress } from '../../ui/useParamsInAddress';
import { ERASED } from './Dialogs';
import { Drafts } from './Drafts';
import css from './Workflows.module.css';
import { plural, t } from '../../words/t';
import { Said } from '../../words/Said';

const PAGE_SIZE = 50;
const QUIET_MS = 10_000;

/** Everything that is saved, the one changed last first. */
export default function Workflows() {
  const [params, change] = useParamsInAddress();
  const page = Math.max(1, Math.floor(Number(params.get('page') ?? 1)) || 1);
  const { data, error } = useQuery({
    queryKey: ['workflows', page],
    queryFn: ({ signal }) =>
      get<{ workflows: ListedWorkflow[]; total: number }>(
        `/api/workflows?limit=${PAGE_SIZE}&offset=${(page - 1) * PAGE_SIZE}`,
        signal,
      ),
    refetchInterval: QUIET_MS,
  });
  const last = Math.ceil((data?.total ?? 0) / PAGE_SIZE);
  return (
    <Page
      title={t('Workflows')}
      actions={
        <Button component={Link} to="/workflows/new" leftSection={<IconPlus size={16} />} size="xs">
          {t('New workflow')}
        </Button>
      }
    >
      {error ? <ProblemNote what={t('The workflows could not be listed')} error={error} /> : null}
      {page === 1 ? <Drafts names={new Map(data?.workflows.map(({ id, name }) => [id, name]))} /> : null}
      {data && data.workflows.length > 0 ? (
        <Card>
          <ul className={css.list} aria-label={t('Saved workflows')}>
            {data.workflows.map((workflow) => (
              <Row key={workflow.id} workflow={workflow} />
            ))}
          </ul>
        </Card>
      ) : null}
      {data?.total === 0 ? (
        <Card>
          <None />
        </Card>
      ) : null}
      {!data && !error ? <Skeleton height={240} radius={10} /> : null}
      {last > 1 ? (
        <nav className={css.pages} aria-label={t('Pages')}>
          <Button
            variant="default"
            size="xs"
            disabled={page <= 1}
            onClick={() => change({ page: String(page - 1) }, 'push')}
          >
            {t('Newer')}
          </Button>
          <span>{t('Page {page} of {last}', { page, last })}</span>
          <Button
            variant="default"
            size="xs"
            disabled={page >= last}
            onClick={() => change({ page: String(page + 1) }, 'push')}
          >
            {t('Older')}
          </Button>
        </nav>
      ) : null}
    </Page>
  );
}

function None() {
  return (
    <Empty icon={IconSchema} title={t('No workflows yet')}>
      <p>
        {t('A workflow is a graph of tasks that is kept, version by version, and run again and again.')}{' '}
        {t('Draw one, or describe it to the chat beside the canvas.')}
      </p>
      <Button component={Link} to="/workflows/new" size="xs" mt={6}>
        {t('Draw a workflow')}
      </Button>
    </Empty>
  );
}

function Row({ workflow }: { workflow: ListedWorkflow }) {
  const [deleting, setDeleting] = useState(false);
  const erase = useAction(
    t('Deleting'),
    () => remove(`/api/workflows/${workflow.id}`),
    () => setDeleting(false),
  );
  return (
    <li className={css.row}>
      <span className={css.icon} aria-hidden>
        <IconSchema size={18} stroke={1.6} />
      </span>
      <span className={css.what}>
        <Link className={css.name} to={`/workflows/${workflow.id}`}>
          {workflow.name}
        </Link>
        {workflow.description ? <span className={css.about}>{workflow.description}</span> : null}
      </span>
      <span className={css.facts}>
        <span>{plural(workflow.tasks, '{n} task', '{n} tasks')}</span>
        <span>{t('version {version}', { version: workflow.version })}</span>
        <span>
          <Said of="saved {ago} by {updatedBy}" ago={<Ago at={workflow.updatedAt} />} updatedBy={workflow.updatedBy} />
        </span>
      </span>
      <Menu>
        <Menu.Target>
          <ActionIcon
            className={css.more}
            variant="subtle"
            color="gray"
            aria-label={t('More about {name}', { name: workflow.name })}
          >
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item component={Link} to={`/workflows/${workflow.id}`} leftSection={<IconPencil size={15} />}>
            {t('Open')}
          </Menu.Item>
          <Menu.Item
            component={Link}
            to={`/runs?${new URLSearchParams({ tag: `workflow:${workflow.id}` })}`}
            leftSection={<IconSchema size={15} />}
          >
            {t('Its runs')}
          </Menu.Item>
          <Menu.Item color="red" leftSection={<IconTrash size={15} />} onClick={() => setDeleting(true)}>
            {t('Delete')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <ConfirmDelete
        what={workflow.name}
        means={ERASED}
        opened={deleting}
        close={() => setDeleting(false)}
        confirm={() => erase.mutate()}
      />
    </li>
  );
}
