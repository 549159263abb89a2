import { Menu } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { IconDots } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import { Link, NavLink, Outlet, useLocation } from 'react-router';
import { HeldBar } from '../rooms/reviews/HeldBar';
import { Connection } from './Connection';
import { Identity } from './Identity';
import { KeyPrompt } from './KeyPrompt';
import { RAIL } from './pages';
import css from './Shell.module.css';
import { SchemeSwitch } from './SchemeSwitch';
import { StaleBar } from './StaleBar';
import { useWaitingTitle } from '../ui/Page';
import { REVIEW } from '../ui/ReviewButton';
import { useParamsInAddress } from '../ui/useParamsInAddress';
import { useCalledBack } from './useCalledBack';
import { useFeed } from './useFeed';
import { t } from '../words/t';

const Palette = lazy(() => import('./Palette'));
const ReviewDialog = lazy(() => import('../rooms/reviews/ReviewDialog'));

/** The rail with its entries, and the page. */
export function Shell() {
  useFeed();
  const review = useParamsInAddress()[0].get(REVIEW);
  const [isSearching, search] = useDisclosure(false);
  // In every field as well: the palette is how one leaves it.
  useHotkeys([['mod+K', search.toggle]], [], true);
  const { reviews, approvals } = useCalledBack();
  const waiting: Record<string, number> = { '/reviews': reviews, '/chat': approvals };
  useWaitingTitle(Object.values(waiting).reduce((sum, count) => sum + count, 0));
  return (
    <div className={css.shell}>
      <a className={css.skip} href="#main">
        {t('Skip to the content')}
      </a>
      <header className={css.rail}>
        <NavLink to="/" className={css.brand ?? ''} aria-label={t('Consort, overview')}>
          <img src="/favicon.svg" alt="" />
          <span>{t('Consort')}</span>
        </NavLink>
        <nav aria-label={t('Pages of Consort')}>
          {RAIL.map(({ to, name, icon: Icon, isMinor }) => (
            <NavLink key={to} to={to} end={to === '/'} className={css.item ?? ''} title={name} data-minor={isMinor}>
              <Icon size={18} stroke={1.8} aria-hidden />
              <span className={css.label}>{name}</span>
              {waiting[to] ? (
                <span className={css.badge}>
                  {waiting[to]}
                  <span className="visually-hidden"> {t('waiting')}</span>
                </span>
              ) : null}
            </NavLink>
          ))}
        </nav>
        <More />
        <div className={css.foot}>
          <Connection />
          <Identity search={search.open} />
          <SchemeSwitch />
        </div>
      </header>
      <main id="main" className={css.main} tabIndex={-1}>
        <StaleBar />
        <Outlet />
      </main>
      {review ? (
        <Suspense>
          <ReviewDialog id={review} />
        </Suspense>
      ) : null}
      {isSearching ? (
        <Suspense>
          <Palette close={search.close} />
        </Suspense>
      ) : null}
      <HeldBar />
      <KeyPrompt />
    </div>
  );
}

/** The entries a narrow screen has no place for. */
function More() {
  const { pathname } = useLocation();
  const isHere = RAIL.some(({ to, isMinor }) => isMinor && pathname.startsWith(to));
  return (
    <Menu position="top-end">
      <Menu.Target>
        <button type="button" className={css.more} data-here={isHere || undefined}>
          <IconDots size={18} stroke={1.8} aria-hidden />
          {t('More')}
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {RAIL.filter(({ isMinor }) => isMinor).map(({ to, name, icon: Icon }) => (
          <Menu.Item key={to} component={Link} to={to} leftSection={<Icon size={16} stroke={1.8} />}>
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
