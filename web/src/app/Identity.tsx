import { Menu, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import {
  IconBell,
  IconBellOff,
  IconLanguage,
  IconLogout,
  IconMoon,
  IconSearch,
  IconSun,
  IconUserCircle,
} from '@tabler/icons-react';
import { key } from '../api/key';
import { type Me, useMe } from '../api/me';
import { useStore } from '../store/store';
import { notices } from './notices';
import css from './Shell.module.css';
import { chooseLanguage, type Language, LANGUAGES } from '../words/language';
import { t } from '../words/t';

/** The caller and the scopes of its key, with the settings of this browser and the way out. */
export function Identity({ search }: { search: () => void }) {
  const me = useMe();
  const { value } = useStore(key);
  const { setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const other = useComputedColorScheme('light') === 'dark' ? 'light' : 'dark';
  const notice = useStore(notices);
  const name = me?.name ?? (value === null ? t('local') : t('Signed in'));
  return (
    <Menu position="right-end">
      <Menu.Target>
        <button type="button" className={css.me} aria-label={t('{name}: who you are, and settings', { name })}>
          <IconUserCircle size={18} stroke={1.8} aria-hidden />
          <span className={css.label}>{name}</span>
        </button>
      </Menu.Target>
      <Menu.Dropdown className={css.identity}>
        {me ? <About me={me} /> : null}
        <Menu.Item leftSection={<IconSearch size={15} />} rightSection={<kbd>Ctrl K</kbd>} onClick={search}>
          {t('Go to anything')}
        </Menu.Item>
        <Menu.Item
          leftSection={other === 'dark' ? <IconMoon size={15} /> : <IconSun size={15} />}
          onClick={() => setColorScheme(other)}
        >
          {other === 'dark' ? t('Switch to dark colours') : t('Switch to light colours')}
        </Menu.Item>
        <Languages />
        {notice === 'unsupported' ? null : (
          <Menu.Item
            leftSection={notice === 'on' ? <IconBellOff size={15} /> : <IconBell size={15} />}
            disabled={notice === 'blocked'}
            title={notice === 'blocked' ? t('The browser blocks notifications of this page') : undefined}
            onClick={() => void notices.toggle()}
          >
            {notice === 'on' ? t('Stop desktop notifications') : t('Notify me on the desktop')}
          </Menu.Item>
        )}
        {value === null ? null : (
          <Menu.Item leftSection={<IconLogout size={15} />} onClick={() => key.signOut()}>
            {t('Sign out, in all tabs')}
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

/** The other languages, each by its own name. */
function Languages() {
  return Object.entries(LANGUAGES)
    .filter(([language]) => language !== document.documentElement.lang)
    .map(([language, name]) => (
      <Menu.Item
        key={language}
        lang={language}
        leftSection={<IconLanguage size={15} />}
        onClick={() => chooseLanguage(language as Language)}
      >
        {name}
      </Menu.Item>
    ));
}

function About({ me: { name, owner, scopes, sees } }: { me: Me }) {
  return (
    <>
      <div className={css.about} role="menuitem" aria-disabled tabIndex={-1}>
        <span>{name}</span>
        <span>
          {owner === name ? t('Its own runs') : t('Runs of {owner}', { owner })}
          {sees === 'all' ? t(', and it may see the runs of everybody') : ''}
        </span>
        <span>{t('Scopes: {scopes}', { scopes: scopes.join(', ') || t('nothing') })}</span>
      </div>
      <Menu.Divider />
    </>
  );
}
