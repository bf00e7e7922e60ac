// Tells others that this tab has an object open, and in which property.
import { sendRequest, api } from './client';

/** Reports where this tab is; to be repeated, because the server forgets it after 45 s. */
export async function reportPresence(
  tab: string,
  contentType: string,
  id: string,
  property: string | null,
): Promise<void> {
  const body = { tab, contentType, id, ...(property === null ? {} : { property }) };
  await sendRequest(api.PUT('/api/v1/presence', { body }));
}

export async function endPresence(tab: string): Promise<void> {
  await sendRequest(api.DELETE('/api/v1/presence/{tab}', { params: { path: { tab } } }));
}
