import { Accordion, Group, Select, Stack, TextInput } from '@mantine/core';
import type { Draft } from './form';
import type { PartProps } from './ScheduleDialog';
import { t } from '../../words/t';

/** The rules for runs that are late, overlap or fail. */
export function Rules({ draft, set }: PartProps) {
  return (
    <Accordion variant="separated">
      <Accordion.Item value="rules">
        <Accordion.Control>{t('When runs overlap or were missed')}</Accordion.Control>
        <Accordion.Panel>
          <Stack>
            <Select
              label={t('Due while the previous run is active')}
              data={[
                { value: 'skip', label: t('Skip it') },
                { value: 'queue', label: t('Queue one run') },
                { value: 'cancel_previous', label: t('Cancel the previous run') },
              ]}
              value={draft.overlap}
              allowDeselect={false}
              onChange={(overlap) => set({ overlap: (overlap ?? 'skip') as Draft['overlap'] })}
            />
            <Select
              label={t('Missed while no server was running')}
              data={[
                { value: 'none', label: t('Run none of them') },
                { value: 'one', label: t('Run the last one') },
                { value: 'all', label: t('Run all of them') },
              ]}
              value={draft.catchUp}
              allowDeselect={false}
              onChange={(catchUp) => set({ catchUp: (catchUp ?? 'one') as Draft['catchUp'] })}
            />
            <Group grow align="start">
              <TextInput
                label={t('Missed at most this long ago')}
                value={draft.window}
                onChange={(event) => set({ window: event.currentTarget.value })}
              />
              <TextInput
                label={t('Random delay, at most')}
                value={draft.jitter}
                onChange={(event) => set({ jitter: event.currentTarget.value })}
              />
            </Group>
          </Stack>
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  );
}
