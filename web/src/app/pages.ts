// Every page of the UI: its address, its component, which is fetched when it is first opened, and its entry in the rail.

import {
  IconActivity,
  IconAffiliate,
  IconApi,
  IconCpu,
  IconMessageCircle,
  IconPlayerPlay,
  IconSchema,
  IconTool,
  IconUserCheck,
  type Icon,
} from '@tabler/icons-react';
import { type ComponentType, lazy } from 'react';

interface Page {
  path: string;
  View: ComponentType;
  rail?: RailEntry;
}

interface RailEntry {
  name: string;
  icon: Icon;
  /** On a narrow screen it is behind “More”. */
  isMinor?: true;
}

export const PAGES: Page[] = [
  {
    path: '/',
    View: lazy(() => import('../rooms/overview/Overview')),
    rail: { name: 'Overview', icon: IconActivity },
  },
  {
    path: '/runs',
    View: lazy(() => import('../rooms/runs/Runs')),
    rail: { name: 'Runs', icon: IconPlayerPlay },
  },
  { path: '/runs/new', View: lazy(() => import('../rooms/new/New')) },
  { path: '/runs/:runId/:tab?', View: lazy(() => import('../rooms/run/Run')) },
  { path: '/compare', View: lazy(() => import('../rooms/compare/Compare')) },
  {
    path: '/reviews/:reviewId?',
    View: lazy(() => import('../rooms/reviews/Reviews')),
    rail: { name: 'Reviews', icon: IconUserCheck },
  },
  {
    path: '/chat/:threadId?',
    View: lazy(() => import('../rooms/chat/Chat')),
    rail: { name: 'Chat', icon: IconMessageCircle },
  },
  {
    path: '/workflows',
    View: lazy(() => import('../rooms/workflows/Workflows')),
    rail: { name: 'Workflows', icon: IconSchema, isMinor: true },
  },
  { path: '/workflows/:workflowId', View: lazy(() => import('../rooms/workflows/Editor')) },
  {
    path: '/network',
    View: lazy(() => import('../rooms/network/Network')),
    rail: { name: 'Network', icon: IconAffiliate, isMinor: true },
  },
  {
    path: '/tools',
    View: lazy(() => import('../rooms/catalog/Tools')),
    rail: { name: 'Tools', icon: IconTool, isMinor: true },
  },
  {
    path: '/models',
    View: lazy(() => import('../rooms/catalog/Models')),
    rail: { name: 'Models', icon: IconCpu, isMinor: true },
  },
  {
    path: '/reference',
    View: lazy(() => import('../rooms/reference/Reference')),
    rail: { name: 'API', icon: IconApi, isMinor: true },
  },
];

/** The entries of the rail, with the address each leads to: that of its page without parameters. */
export const RAIL = PAGES.flatMap(({ path, rail }) => (rail ? [{ to: path.replace(/\/:.*$/, ''), ...rail }] : []));
