import { IconMapOff } from '@tabler/icons-react';
import { Link } from 'react-router';
import { Empty } from '../ui/Note';

export function NotFound() {
  return (
    <Empty icon={IconMapOff} title="There is no page here">
      <p>
        The address may be mistyped. <Link to="/runs">All runs</Link>
      </p>
    </Empty>
  );
}
