import { Menu } from '@mantine/core';
import { IconPlayerStop } from '@tabler/icons-react';
import { post } from '../../api/client';
import type { CancelMode } from '../../api/types';
import type { RunState } from '../../run/state';
import { ActButton, ActItem } from '../../ui/Act';
import { useAction } from '../../ui/useAction';
import { t } from '../../words/t';

const MODES: { mode: CancelMode; title: string; means: string }[] = [
  { mode: 'after_task', title: t('After the tasks under way'), means: t('They finish and keep their outputs') },
  {
    mode: 'after_iteration',
    title: t('After the model calls under way'),
    means: t('Their answers are kept; no more tools are called'),
  },
  { mode: 'now', title: t('At once'), means: t('Answers are cut off and tools are stopped') },
];

/** Stops a run: after what is under way, or at once. */
export function Cancel({ run }: { run: RunState }) {
  const cancel = useAction(t('Cancelling'), (mode: CancelMode) => post(`/api/runs/${run.runId}/cancel`, { mode }));
  const order = MODES.findIndex(({ mode }) => mode === run.cancel);
  const stronger = MODES.filter((_, position) => position > order);
  if (stronger.length === 0) return null;
  return (
    <Menu>
      <Menu.Target>
        <ActButton
          needs="run"
          size="xs"
          variant="default"
          leftSection={<IconPlayerStop size={15} />}
          loading={cancel.isPending}
        >
          {run.cancel ? t('Stop sooner') : t('Cancel')}
        </ActButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t('Stop this run')}</Menu.Label>
        {stronger.map(({ mode, title, means }) => (
          <ActItem
            needs="run"
            key={mode}
            {...(mode === 'now' ? { color: 'red' } : {})}
            onClick={() => cancel.mutate(mode)}
          >
            {title}
            <br />
            <small>{means}</small>
          </ActItem>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
