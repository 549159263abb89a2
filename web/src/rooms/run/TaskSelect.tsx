import { Select } from '@mantine/core';
import type { RunDetail } from '../../api/types';
import { t } from '../../words/t';

interface TaskSelectProps {
  label: string;
  /** The tasks that were changed, or else what changing one does. */
  description: string;
  tasks: readonly RunDetail['tasks'][number][];
  name: string | null;
  choose: (name: string | null) => void;
}

/** One of these tasks, or none. */
export function TaskSelect({ label, description, tasks, name, choose }: TaskSelectProps) {
  return (
    <Select
      label={label}
      description={description}
      placeholder={t('None')}
      clearable
      searchable
      data={tasks.map((each) => each.name)}
      value={name}
      onChange={choose}
    />
  );
}
