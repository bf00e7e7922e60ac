// Objects that link to an object.
import { sendRequest, api, type ApiResult, type Schema } from '../api/client';

export type IncomingLinks = Schema['IncomingLinkList'];
export type IncomingLink = IncomingLinks['data'][number];

export function readIncomingLinks(
  type: string,
  id: string,
  page: number,
  limit: number,
): Promise<ApiResult<IncomingLinks>> {
  return sendRequest(
    api.GET('/api/v1/content/{contentType}/{id}/incoming', {
      params: { path: { contentType: type, id }, query: { page, limit } },
    }),
  );
}
