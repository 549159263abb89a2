import { Menu } from '@mantine/core';
import {
  IconActivity,
  IconAffiliate,
  IconApi,
  IconCpu,
  IconDots,
  IconMessageCircle,
  IconPlayerPlay,
  IconSchema,
  IconTool,
  IconUserCheck,
  type Icon,
} from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import { Link, NavLink, Outlet, useLocation, useSearchParams } from 'react-router';
import { useApprovals } from '../api/queries';
import { useOpenReviews } from '../review/useHeld';
import { HeldBar } from '../rooms/reviews/HeldBar';
import { Connection } from './Connection';
import { KeyPrompt } from './KeyPrompt';
import css from './Shell.module.css';
import { SchemeSwitch } from './SchemeSwitch';
import { useWaitingTitle } from '../ui/Page';
import { REVIEW } from '../ui/ReviewButton';
import { useFeed } from './useFeed';

const ReviewDialog = lazy(() => import('../rooms/reviews/ReviewDialog'));

/** `isMinor`: on a narrow screen it is behind “More”. */
const ROOMS: { to: string; name: string; icon: Icon; isMinor?: true }[] = [
  { to: '/', name: 'Overview', icon: IconActivity },
  { to: '/runs', name: 'Runs', icon: IconPlayerPlay },
  { to: '/reviews', name: 'Reviews', icon: IconUserCheck },
  { to: '/chat', name: 'Chat', icon: IconMessageCircle },
  { to: '/workflows', name: 'Workflows', icon: IconSchema, isMinor: true },
  { to: '/network', name: 'Network', icon: IconAffiliate, isMinor: true },
  { to: '/tools', name: 'Tools', icon: IconTool, isMinor: true },
  { to: '/models', name: 'Models', icon: IconCpu, isMinor: true },
  { to: '/reference', name: 'API', icon: IconApi, isMinor: true },
];

/** The rail with every room, and the room. */
export function Shell() {
  useFeed();
  const review = useSearchParams()[0].get(REVIEW);
  const waiting: Record<string, number> = {
    '/reviews': useOpenReviews().total,
    '/chat': useApprovals().data?.total ?? 0,
  };
  useWaitingTitle(Object.values(waiting).reduce((sum, count) => sum + count, 0));
  return (
    <div className={css.shell}>
      <a className={css.skip} href="#main">
        Skip to the page
      </a>
      <header className={css.rail}>
        <NavLink to="/" className={css.brand ?? ''} aria-label="Consort, overview">
          <img src="/favicon.svg" alt="" />
          <span>Consort</span>
        </NavLink>
        <nav aria-label="Rooms">
          {ROOMS.map(({ to, name, icon: Icon, isMinor }) => (
            <NavLink key={to} to={to} end={to === '/'} className={css.item ?? ''} title={name} data-minor={isMinor}>
              <Icon size={18} stroke={1.8} aria-hidden />
              <span className={css.label}>{name}</span>
              {waiting[to] ? (
                <span className={css.badge}>
                  {waiting[to]}
                  <span className="visually-hidden"> waiting</span>
                </span>
              ) : null}
            </NavLink>
          ))}
        </nav>
        <More />
        <div className={css.foot}>
          <Connection />
          <SchemeSwitch />
        </div>
      </header>
      <main id="main" className={css.main} tabIndex={-1}>
        <Outlet />
      </main>
      {review ? (
        <Suspense>
          <ReviewDialog id={review} />
        </Suspense>
      ) : null}
      <HeldBar />
      <KeyPrompt />
    </div>
  );
}

/** The rooms a narrow screen has no place for. */
function More() {
  const { pathname } = useLocation();
  const isHere = ROOMS.some(({ to, isMinor }) => isMinor && pathname.startsWith(to));
  return (
    <Menu position="top-end">
      <Menu.Target>
        <button type="button" className={css.more} data-here={isHere || undefined}>
          <IconDots size={18} stroke={1.8} aria-hidden />
          More
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {ROOMS.filter(({ isMinor }) => isMinor).map(({ to, name, icon: Icon }) => (
          <Menu.Item key={to} component={Link} to={to} leftSection={<Icon size={16} stroke={1.8} />}>
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
