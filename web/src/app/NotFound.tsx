import { IconMapOff } from '@tabler/icons-react';
import { Link } from 'react-router';
import { Empty } from '../ui/Note';
import { t } from '../words/t';
import { Said } from '../words/Said';

export function NotFound() {
  return (
    <Empty icon={IconMapOff} title={t('There is no page here')}>
      <p>
        <Said of="The address may be mistyped. {link}" link={<Link to="/runs">{t('All runs')}</Link>} />
      </p>
    </Empty>
  );
}
