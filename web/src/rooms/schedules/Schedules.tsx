import { Skeleton } from '@mantine/core';
import { IconCalendarTime, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { get } from '../../api/client';
import type { Answer } from '../../api/types';
import { ActButton } from '../../ui/Act';
import { Empty, ProblemNote } from '../../ui/Note';
import { Card, Page } from '../../ui/Page';
import { Row } from './Row';
import { ScheduleDialog } from './ScheduleDialog';
import css from './Schedules.module.css';
import { Said } from '../../words/Said';
import { t } from '../../words/t';

/** The time until the schedules are asked for again; a run that began is soon seen. */
const AGAIN_MS = 5_000;

/** The schedules: when each is due, its last run, and its actions. */
export default function Schedules() {
  const [isMaking, setMaking] = useState(false);
  const { data, error } = useQuery({
    queryKey: ['schedules'],
    queryFn: ({ signal }) => get<Answer<'GET /api/schedules'>>('/api/schedules', signal),
    refetchInterval: AGAIN_MS,
  });
  return (
    <Page
      title={t('Schedules')}
      actions={
        <ActButton needs="run" size="xs" leftSection={<IconPlus size={16} />} onClick={() => setMaking(true)}>
          {t('New schedule')}
        </ActButton>
      }
    >
      {error ? <ProblemNote what={t('The schedules could not be listed')} error={error} /> : null}
      {data && data.schedules.length > 0 ? (
        <Card>
          <ul className={css.list} aria-label={t('Schedules')}>
            {data.schedules.map((schedule) => (
              <Row key={schedule.name} schedule={schedule} />
            ))}
          </ul>
        </Card>
      ) : null}
      {data?.schedules.length === 0 ? (
        <Card>
          <Empty icon={IconCalendarTime} title={t('Nothing is scheduled')}>
            <p>
              <Said
                of="A schedule starts a run whenever it is due. Create one here, or add {code} to {code2}."
                code={<code>[[schedule]]</code>}
                code2={<code>consort.toml</code>}
              />
            </p>
          </Empty>
        </Card>
      ) : null}
      {!data && !error ? <Skeleton height={240} radius={10} /> : null}
      {isMaking ? <ScheduleDialog close={() => setMaking(false)} /> : null}
    </Page>
  );
}
