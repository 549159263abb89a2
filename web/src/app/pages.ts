// Every page of the UI: its address, its component, which is fetched when it is first opened, and its entry in the rail.

import {
  IconActivity,
  IconAffiliate,
  IconApi,
  IconBooks,
  IconBrain,
  IconCalendarTime,
  IconCpu,
  IconFolder,
  IconMessageCircle,
  IconPlayerPlay,
  IconSchema,
  IconServer2,
  IconTool,
  IconUserCheck,
  IconWebhook,
  type Icon,
} from '@tabler/icons-react';
import { type ComponentType, lazy } from 'react';
import { t } from '../words/t';

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
    rail: { name: t('Overview'), icon: IconActivity },
  },
  {
    path: '/runs',
    View: lazy(() => import('../rooms/runs/Runs')),
    rail: { name: t('Runs'), icon: IconPlayerPlay },
  },
  { path: '/runs/new', View: lazy(() => import('../rooms/new/New')) },
  { path: '/runs/:runId/:tab?', View: lazy(() => import('../rooms/run/Run')) },
  { path: '/compare', View: lazy(() => import('../rooms/compare/Compare')) },
  {
    path: '/reviews/:reviewId?',
    View: lazy(() => import('../rooms/reviews/Reviews')),
    rail: { name: t('Reviews'), icon: IconUserCheck },
  },
  {
    path: '/chat/:threadId?',
    View: lazy(() => import('../rooms/chat/Chat')),
    rail: { name: t('Chat'), icon: IconMessageCircle },
  },
  {
    path: '/workflows',
    View: lazy(() => import('../rooms/workflows/Workflows')),
    rail: { name: t('Workflows'), icon: IconSchema, isMinor: true },
  },
  { path: '/workflows/:workflowId', View: lazy(() => import('../rooms/workflows/Editor')) },
  {
    path: '/schedules',
    View: lazy(() => import('../rooms/schedules/Schedules')),
    rail: { name: t('Schedules'), icon: IconCalendarTime, isMinor: true },
  },
  {
    path: '/documents',
    View: lazy(() => import('../rooms/knowledge/Documents')),
    rail: { name: t('Documents'), icon: IconBooks, isMinor: true },
  },
  {
    path: '/memory',
    View: lazy(() => import('../rooms/knowledge/Remembered')),
    rail: { name: t('Memory'), icon: IconBrain, isMinor: true },
  },
  {
    path: '/files',
    View: lazy(() => import('../rooms/knowledge/Files')),
    rail: { name: t('Files'), icon: IconFolder, isMinor: true },
  },
  {
    path: '/network',
    View: lazy(() => import('../rooms/network/Network')),
    rail: { name: t('Network'), icon: IconAffiliate, isMinor: true },
  },
  {
    path: '/webhooks',
    View: lazy(() => import('../rooms/webhooks/Webhooks')),
    rail: { name: t('Webhooks'), icon: IconWebhook, isMinor: true },
  },
  {
    path: '/cluster',
    View: lazy(() => import('../rooms/cluster/Cluster')),
    rail: { name: t('Cluster'), icon: IconServer2, isMinor: true },
  },
  {
    path: '/tools',
    View: lazy(() => import('../rooms/catalog/Tools')),
    rail: { name: t('Tools'), icon: IconTool, isMinor: true },
  },
  {
    path: '/models',
    View: lazy(() => import('../rooms/catalog/Models')),
    rail: { name: t('Models'), icon: IconCpu, isMinor: true },
  },
  {
    path: '/reference',
    View: lazy(() => import('../rooms/reference/Reference')),
    rail: { name: 'API', icon: IconApi, isMinor: true },
  },
];

/** The entries of the rail, with the address each leads to: that of its page without parameters. */
export const RAIL = PAGES.flatMap(({ path, rail }) => (rail ? [{ to: path.replace(/\/:.*$/, ''), ...rail }] : []));
