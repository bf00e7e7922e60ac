// The operations that this user may run, read once for the console and the requests of a screen.
import { sendRaw } from '../../api/raw-request';
import { readOperations } from './operations';

const OPENAPI_PATH = '/api/v1/open-api-schema.json?management=1';

export const operationsQuery = {
  queryKey: ['operations'],
  staleTime: 60_000,
  queryFn: async ({ signal }: { signal: AbortSignal }) => {
    const { status, text } = await sendRaw({ method: 'GET', path: OPENAPI_PATH, signal });
    if (status !== 200) throw new Error(`status ${String(status)}`);
    return readOperations(JSON.parse(text));
  },
};
