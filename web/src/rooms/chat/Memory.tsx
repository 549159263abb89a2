import { ActionIcon, Button, Modal, Skeleton, Switch } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { IconBrain } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { get, remove } from '../../api/client';
import type { Answer, RememberedFact } from '../../api/types';
import { ForgetButton } from '../../ui/ForgetButton';
import { ProblemNote } from '../../ui/Note';
import { Ago } from '../../ui/Time';
import { useAction } from '../../ui/useAction';
import { useParamsInAddress } from '../../ui/useParamsInAddress';
import css from './Memory.module.css';
import { t } from '../../words/t';
import { Said } from '../../words/Said';

/** All there can be. */
const FACTS_MAX = 500;
const PLACE = 'memory';

/** Whether messages may be remembered; sent with every message. */
export function useRemembers() {
  return useLocalStorage({ key: 'consort.chat.memory', defaultValue: false });
}

/** Opens the list of what is remembered about the user. It has an address of its own. */
export function Memory() {
  const [params, change] = useParamsInAddress();
  const [remembers] = useRemembers();
  return (
    <>
      <ActionIcon
        variant={remembers ? 'light' : 'subtle'}
        color={remembers ? 'indigo' : 'gray'}
        size={30}
        aria-label={t('Facts about you')}
        title={t('Facts about you')}
        onClick={() => change({ [PLACE]: '' })}
      >
        <IconBrain size={17} />
      </ActionIcon>
      <Modal opened={params.has(PLACE)} onClose={() => change({ [PLACE]: undefined })} title={t('Facts about you')}>
        <Facts />
      </Modal>
    </>
  );
}

function Facts() {
  const [remembers, setRemembers] = useRemembers();
  const { data, error } = useQuery({
    queryKey: ['facts'],
    queryFn: ({ signal }) => get<Answer<'GET /api/facts'>>(`/api/facts?limit=${FACTS_MAX}`, signal),
    refetchInterval: 3_000,
  });
  const forgetAll = useAction(t('Forgetting'), () => remove('/api/facts'));
  return (
    <div className={css.memory}>
      <Switch
        label={t('Remember facts about me')}
        description={t('After each turn, facts about you are noted, and the model is told of them in later chats.')}
        checked={remembers}
        onChange={(event) => setRemembers(event.currentTarget.checked)}
      />
      {error ? <ProblemNote what={t('The facts could not be read')} error={error} /> : null}
      {data ? (
        <ul>
          {data.facts.map((fact) => (
            <Row key={fact.id} fact={fact} />
          ))}
        </ul>
      ) : error ? null : (
        <Skeleton height={60} />
      )}
      {data?.total === 0 ? <p className={css.quiet}>{t('No facts about you are stored.')}</p> : null}
      {data && data.total > 1 ? (
        <Button variant="subtle" color="red" size="xs" loading={forgetAll.isPending} onClick={() => forgetAll.mutate()}>
          {t('Forget all {total}', { total: data.total })}
        </Button>
      ) : null}
    </div>
  );
}

function Row({ fact: { id, text, threadId, createdAt } }: { fact: RememberedFact }) {
  const forget = useAction(t('Forgetting'), () => remove(`/api/facts/${id}`));
  return (
    <li>
      <div>
        {text}
        <small>
          <Link to={`/chat/${threadId}`}>
            <Said of="noted {ago}" ago={<Ago at={createdAt} />} />
          </Link>
        </small>
      </div>
      <ForgetButton label={t('Forget: {text}', { text })} action={forget} />
    </li>
  );
}
