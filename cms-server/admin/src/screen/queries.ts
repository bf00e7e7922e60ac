// Cached responses of the server. A response is stale immediately: it is shown while it is requested again.
import { QueryClient } from '@tanstack/svelte-query';
import { ProblemError } from '../api/problem';

/** Requests that failed without a response, or because the server is busy, are repeated twice. */
function mayRetry(count: number, error: Error): boolean {
  if (!(error instanceof ProblemError)) return false;
  const { status } = error.problem;
  if (status === 0 && !navigator.onLine) return false;
  return count < 2 && (status === 0 || status === 503);
}

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      retry: mayRetry,
      staleTime: 0,
      gcTime: 5 * 60_000,
      refetchOnWindowFocus: true,
      // Requests are sent, and fail, without a network too: a failure marks earlier data as old. On reconnect only
      // failed queries are repeated; changes to the others arrive by the event stream.
      networkMode: 'always',
      refetchOnReconnect: ({ state }) => state.error !== null,
      throwOnError: false,
      // By default, a component is notified only of properties that it has read: a property that it first reads
      // after the response would keep its old value.
      notifyOnChangeProps: 'all',
    },
  },
});
