import { IconActivity, IconCpu, IconMessageCircle, IconPlayerPlay, IconTool, IconUserCheck, type Icon } from '@tabler/icons-react';
import { NavLink, Outlet } from 'react-router';
import { useReviews } from '../api/queries';
import { Connection } from './Connection';
import { KeyPrompt } from './KeyPrompt';
import css from './Shell.module.css';
import { SchemeSwitch } from './SchemeSwitch';
import { useFeed } from './useFeed';

const ROOMS: { to: string; name: string; icon: Icon }[] = [
  { to: '/', name: 'Overview', icon: IconActivity },
  { to: '/runs', name: 'Runs', icon: IconPlayerPlay },
  { to: '/reviews', name: 'Reviews', icon: IconUserCheck },
  { to: '/chat', name: 'Chat', icon: IconMessageCircle },
  { to: '/tools', name: 'Tools', icon: IconTool },
  { to: '/models', name: 'Models', icon: IconCpu },
];

/** The rail with every room, and the room. */
export function Shell() {
  useFeed();
  const waiting = useReviews().data?.total ?? 0;
  return (
    <div className={css.shell}>
      <a className={css.skip} href="#main">Skip to the page</a>
      <header className={css.rail}>
        <NavLink to="/" className={css.brand ?? ''} aria-label="Consort, overview">
          <img src="/favicon.svg" alt="" />
          <span>Consort</span>
        </NavLink>
        <nav aria-label="Rooms">
          {ROOMS.map(({ to, name, icon: Icon }) => (
            <NavLink key={to} to={to} end={to === '/'} className={css.item ?? ''} title={name}>
              <Icon size={18} stroke={1.8} aria-hidden />
              <span className={css.label}>{name}</span>
              {to === '/reviews' && waiting > 0 ? (
                <span className={css.badge}>{waiting}<span className="visually-hidden"> waiting</span></span>
              ) : null}
            </NavLink>
          ))}
        </nav>
        <div className={css.foot}>
          <Connection />
          <SchemeSwitch />
        </div>
      </header>
      <main id="main" className={css.main} tabIndex={-1}>
        <Outlet />
      </main>
      <KeyPrompt />
    </div>
  );
}

