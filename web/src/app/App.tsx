import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { Suspense, useMemo } from 'react';
import { flushSync } from 'react-dom';
import { createBrowserRouter, RouterProvider } from 'react-router';
import { Problem } from '../api/client';
import { key } from '../api/key';
import { useStore } from '../store/store';
import { PageError } from './PageError';
import { NotFound } from './NotFound';
import { PAGES } from './pages';
import { Shell } from './Shell';
import { theme } from './theme';

const newQueryClient = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      // Without a network a request fails at once: the server may be on this machine, and an action must not be sent
      // later, when nobody looks.
      mutations: { networkMode: 'always' },
      queries: {
        networkMode: 'always',
        retry: (failures, error) => failures < 2 && error instanceof Problem && error.isUnreachable,
        staleTime: 1_000,
      },
    },
  });

const routes = PAGES.map(({ path, View }) => ({
  path,
  element: (
    <Suspense>
      <View />
    </Suspense>
  ),
}));

const router = createBrowserRouter([
  {
    element: <Shell />,
    // A page that fails does so inside of the shell, so that the other pages stay at hand.
    children: [{ errorElement: <PageError />, children: [...routes, { path: '*', element: <NotFound /> }] }],
  },
]);

/** Draws before it returns. */
const drawNow = (draw: () => unknown): undefined => {
  flushSync(draw);
};

export function App() {
  // With a new key everything starts again: streams, queries and what was refused.
  const { value: keyInUse } = useStore(key);
  const client = useMemo(() => newQueryClient(), [keyInUse]); // oxlint-disable-line react/exhaustive-deps
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
      <QueryClientProvider client={client}>
        <Notifications position="bottom-right" />
        <RouterProvider key={keyInUse} router={router} flushSync={drawNow} />
      </QueryClientProvider>
    </MantineProvider>
  );
}
