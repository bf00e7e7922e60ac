// Deletions, which somebody else may have made already. Knows requests, no screen.
import { sendRequest, type Fetched } from './client';
import type { Problem } from './problem';

/** As `sendRequest`, for a deletion: it succeeds, too, if somebody else has already deleted the same. */
export async function sendDeletion(request: Promise<Fetched<unknown>>): Promise<Problem | null> {
  const result = await sendRequest(request);
  return 'problem' in result && result.problem.status !== 404 ? result.problem : null;
}
