import { Menu, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { IconBell, IconBellOff, IconLogout, IconMoon, IconSearch, IconSun, IconUserCircle } from '@tabler/icons-react';
import { key } from '../api/key';
import { type Me, useMe } from '../api/me';
import { useStore } from '../store/store';
import { notices } from './notices';
import css from './Shell.module.css';

/** Who is signed in and what they may do, with the settings of this browser and the way out. */
export function Identity({ search }: { search: () => void }) {
  const me = useMe();
  const { value } = useStore(key);
  const { setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const other = useComputedColorScheme('light') === 'dark' ? 'light' : 'dark';
  const notice = useStore(notices);
  const name = me?.name ?? (value === null ? 'local' : 'Signed in');
  return (
    <Menu position="right-end">
      <Menu.Target>
        <button type="button" className={css.me} aria-label={`${name}: who you are, and settings`}>
          <IconUserCircle size={18} stroke={1.8} aria-hidden />
          <span className={css.label}>{name}</span>
        </button>
      </Menu.Target>
      <Menu.Dropdown className={css.identity}>
        {me ? <About me={me} /> : null}
        <Menu.Item leftSection={<IconSearch size={15} />} rightSection={<kbd>Ctrl K</kbd>} onClick={search}>
          Go to anything
        </Menu.Item>
        <Menu.Item
          leftSection={other === 'dark' ? <IconMoon size={15} /> : <IconSun size={15} />}
          onClick={() => setColorScheme(other)}
        >
          Switch to {other} colours
        </Menu.Item>
        {notice === 'unsupported' ? null : (
          <Menu.Item
            leftSection={notice === 'on' ? <IconBellOff size={15} /> : <IconBell size={15} />}
            disabled={notice === 'blocked'}
            title={notice === 'blocked' ? 'The browser blocks notifications of this page' : undefined}
            onClick={() => void notices.toggle()}
          >
            {notice === 'on' ? 'Stop desktop notifications' : 'Notify me on the desktop'}
          </Menu.Item>
        )}
        {value === null ? null : (
          <Menu.Item leftSection={<IconLogout size={15} />} onClick={() => key.signOut()}>
            Sign out, in all tabs
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

function About({ me: { name, owner, scopes, sees } }: { me: Me }) {
  return (
    <>
      <div className={css.about} role="menuitem" aria-disabled tabIndex={-1}>
        <span>{name}</span>
        <span>
          {owner === name ? 'Its own runs' : `Runs of ${owner}`}
          {sees === 'all' ? ', and it sees those of everybody' : ''}
        </span>
        <span>May: {scopes.join(', ') || 'nothing'}</span>
      </div>
      <Menu.Divider />
    </>
  );
}
