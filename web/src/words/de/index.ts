// Every sentence of the UI: what it is in English, and beside it in German.

import { APP } from './app';
import { CATALOG } from './catalog';
import { CHAT } from './chat';
import { CLUSTER } from './cluster';
import { COMMON } from './common';
import { KNOWLEDGE } from './knowledge';
import { NETWORK } from './network';
import { NEW } from './new';
import { OVERVIEW } from './overview';
import { REVIEWS } from './reviews';
import { RUN } from './run';
import { RUNS } from './runs';
import { SCHEDULES } from './schedules';
import { UI } from './ui';
import { WEBHOOKS } from './webhooks';
import { WORKFLOWS } from './workflows';

export const PARTS = [
  APP,
  CATALOG,
  CHAT,
  CLUSTER,
  COMMON,
  KNOWLEDGE,
  NETWORK,
  NEW,
  OVERVIEW,
  REVIEWS,
  RUN,
  RUNS,
  SCHEDULES,
  UI,
  WEBHOOKS,
  WORKFLOWS,
];

export const GERMAN = {
  ...APP,
  ...CATALOG,
  ...CHAT,
  ...CLUSTER,
  ...COMMON,
  ...KNOWLEDGE,
  ...NETWORK,
  ...NEW,
  ...OVERVIEW,
  ...REVIEWS,
  ...RUN,
  ...RUNS,
  ...SCHEDULES,
  ...UI,
  ...WEBHOOKS,
  ...WORKFLOWS,
};
