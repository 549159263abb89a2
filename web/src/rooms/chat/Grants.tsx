import { Popover } from '@mantine/core';
import { IconShieldCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { get, remove } from '../../api/client';
import type { Answer } from '../../api/types';
import { ForgetButton } from '../../ui/ForgetButton';
import { Ago } from '../../ui/Time';
import { useAction } from '../../ui/useAction';
import css from './Chat.module.css';
import { t } from '../../words/t';
import { Said } from '../../words/Said';

type Grant = Answer<'GET /api/threads/{id}/grants'>['grants'][number];

/** The time until the grants are asked for again: a decision elsewhere adds one. */
const EVERY_MS = 4_000;

/** The grants of a chat, which can be withdrawn; nothing while there is none. */
export function Grants({ thread }: { thread: string }) {
  const { data } = useQuery({
    queryKey: ['grants', thread],
    queryFn: ({ signal }) => get<Answer<'GET /api/threads/{id}/grants'>>(`/api/threads/${thread}/grants`, signal),
    refetchInterval: EVERY_MS,
  });
  const grants = data?.grants ?? [];
  if (grants.length === 0) return null;
  return (
    <Popover position="bottom-end" withinPortal={false}>
      <Popover.Target>
        <button type="button" className={css.granted}>
          <IconShieldCheck size={15} aria-hidden />
          {t('{count} allowed in this chat', { count: grants.length })}
        </button>
      </Popover.Target>
      <Popover.Dropdown>
        <ul className={css.grants} aria-label={t('Allowed in this chat')}>
          {grants.map((grant) => (
            <Row key={grant.id} thread={thread} grant={grant} />
          ))}
        </ul>
      </Popover.Dropdown>
    </Popover>
  );
}

function Row({ thread, grant: { id, tool, host, grantedAt } }: { thread: string; grant: Grant }) {
  const withdraw = useAction(t('Revoking'), () => remove(`/api/threads/${thread}/grants/${id}`));
  const what = host ? t('{tool} to {host}', { tool, host }) : tool;
  return (
    <li>
      <div>
        <code>{tool}</code>
        {host ? (
          <>
            {' '}
            <Said of="to {code}" code={<code>{host}</code>} />
          </>
        ) : null}
        <small>
          <Said of="allowed {ago}" ago={<Ago at={grantedAt} />} />
        </small>
      </div>
      <ForgetButton label={t('Revoke: {what}', { what })} action={withdraw} />
    </li>
  );
}
