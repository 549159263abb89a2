import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { lazy, Suspense, useMemo } from 'react';
import { createBrowserRouter, RouterProvider } from 'react-router';
import { Problem } from '../api/client';
import { key } from '../api/key';
import { useStore } from '../store/store';
import { Broken } from './Broken';
import { NotFound } from './NotFound';
import { Shell } from './Shell';
import { theme } from './theme';

const Runs = lazy(() => import('../rooms/runs/Runs'));
const Chat = lazy(() => import('../rooms/chat/Chat'));
const Models = lazy(() => import('../rooms/catalog/Models'));
const New = lazy(() => import('../rooms/new/New'));
const Overview = lazy(() => import('../rooms/overview/Overview'));
const Network = lazy(() => import('../rooms/network/Network'));
const Reference = lazy(() => import('../rooms/reference/Reference'));
const Reviews = lazy(() => import('../rooms/reviews/Reviews'));
const Tools = lazy(() => import('../rooms/catalog/Tools'));
const Run = lazy(() => import('../rooms/run/Run'));
const Editor = lazy(() => import('../rooms/workflows/Editor'));
const Workflows = lazy(() => import('../rooms/workflows/Workflows'));

const freshClient = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      // Without a network a request fails at once: the server may be on this machine, and what a person did must not
      // happen later, unseen.
      mutations: { networkMode: 'always' },
      queries: {
        networkMode: 'always',
        retry: (failures, error) => failures < 2 && error instanceof Problem && error.isUnreachable,
        staleTime: 1_000,
      },
    },
  });

const router = createBrowserRouter([
  {
    element: <Shell />,
    // Inside the shell, so that the other rooms stay at hand.
    children: [
      {
        errorElement: <Broken />,
        children: [
          {
            path: '/',
            element: (
              <Suspense>
                <Overview />
              </Suspense>
            ),
          },
          {
            path: '/runs',
            element: (
              <Suspense>
                <Runs />
              </Suspense>
            ),
          },
          {
            path: '/runs/new',
            element: (
              <Suspense>
                <New />
              </Suspense>
            ),
          },
          {
            path: '/runs/:runId/:tab?',
            element: (
              <Suspense>
                <Run />
              </Suspense>
            ),
          },
          {
            path: '/reviews/:reviewId?',
            element: (
              <Suspense>
                <Reviews />
              </Suspense>
            ),
          },
          {
            path: '/chat/:threadId?',
            element: (
              <Suspense>
                <Chat />
              </Suspense>
            ),
          },
          {
            path: '/workflows',
            element: (
              <Suspense>
                <Workflows />
              </Suspense>
            ),
          },
          {
            path: '/workflows/:workflowId',
            element: (
              <Suspense>
                <Editor />
              </Suspense>
            ),
          },
          {
            path: '/network',
            element: (
              <Suspense>
                <Network />
              </Suspense>
            ),
          },
          {
            path: '/tools',
            element: (
              <Suspense>
                <Tools />
              </Suspense>
            ),
          },
          {
            path: '/reference',
            element: (
              <Suspense>
                <Reference />
              </Suspense>
            ),
          },
          {
            path: '/models',
            element: (
              <Suspense>
                <Models />
              </Suspense>
            ),
          },
          { path: '*', element: <NotFound /> },
        ],
      },
    ],
  },
]);

export function App() {
  // A new key starts everything anew: streams, queries, what was refused.
  const { value: keyInUse } = useStore(key);
  const client = useMemo(() => freshClient(), [keyInUse]); // oxlint-disable-line react/exhaustive-deps
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
      <QueryClientProvider client={client}>
        <Notifications position="bottom-right" />
        <RouterProvider key={keyInUse} router={router} />
      </QueryClientProvider>
    </MantineProvider>
  );
}
