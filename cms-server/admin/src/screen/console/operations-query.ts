// The operations that this user may run, read once for the console and the requests of a screen.
import { readText } from '../../api/raw-request';
import { readOperations } from './operations';

const OPENAPI_PATH = '/api/v1/open-api-schema.json?management=1';

export const operationsQuery = {
  queryKey: ['operations'],
  staleTime: 60_000,
  queryFn: async ({ signal }: { signal: AbortSignal }) =>
    readOperations(JSON.parse(await readText(OPENAPI_PATH, signal))),
};
