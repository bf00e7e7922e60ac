// Objects that link to an object.
import { answer, api, type Answer, type Schema } from '../api/client';

export type Incoming = Schema['IncomingLinkList'];
export type IncomingItem = Incoming['data'][number];

export function readIncoming(
  type: string,
  id: string,
  page: number,
  limit: number,
): Promise<Answer<Incoming>> {
  return answer(
    api.GET('/api/v1/content/{contentType}/{id}/incoming', {
      params: { path: { contentType: type, id }, query: { page, limit } },
    }),
  );
}
