// The operations that this user may run, read once for the console and the requests of a screen.
import { ProblemError } from '../../api/problem';
import { rawProblem, sendRaw } from '../../api/raw-request';
import { readOperations } from './operations';

const OPENAPI_PATH = '/api/v1/open-api-schema.json?management=1';

export const operationsQuery = {
  queryKey: ['operations'],
  staleTime: 60_000,
  queryFn: async ({ signal }: { signal: AbortSignal }) => {
    const response = await sendRaw({ method: 'GET', path: OPENAPI_PATH, signal });
    if (response.status !== 200) throw new ProblemError(rawProblem(response));
    return readOperations(JSON.parse(response.text));
  },
};
