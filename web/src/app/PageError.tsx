import { Button } from '@mantine/core';
import { IconPlugConnectedX } from '@tabler/icons-react';
import { useRouteError } from 'react-router';
import { Empty } from '../ui/Note';
import { t } from '../words/t';

/** Shown in place of a page whose code could not be fetched, or that failed. */
export function PageError() {
  const error = useRouteError();
  return (
    <Empty icon={IconPlugConnectedX} title={t('This page could not be shown')}>
      <p>
        {t(
          'The server could not be reached when it was opened, or has been replaced by another version since. {value}',
          { value: error instanceof Error ? error.message : '' },
        )}
      </p>
      <Button size="xs" onClick={() => location.reload()}>
        {t('Load it again')}
      </Button>
    </Empty>
  );
}
