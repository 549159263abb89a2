import { ActionIcon, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { IconMoon, IconSun } from '@tabler/icons-react';
import css from './Shell.module.css';
import { t } from '../words/t';

/** Light or dark; the system's choice until one is made here. */
export function SchemeSwitch() {
  // Switching transitions off would insert a style element.
  const { setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const scheme = useComputedColorScheme('light');
  const other = scheme === 'dark' ? 'light' : 'dark';
  return (
    <ActionIcon
      className={css.scheme ?? ''}
      variant="subtle"
      color="gray"
      size="md"
      aria-label={other === 'dark' ? t('Switch to dark colours') : t('Switch to light colours')}
      onClick={() => setColorScheme(other)}
    >
      {scheme === 'dark' ? <IconSun size={17} stroke={1.8} /> : <IconMoon size={17} stroke={1.8} />}
    </ActionIcon>
  );
}
