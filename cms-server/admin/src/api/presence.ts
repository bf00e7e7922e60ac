// Notifies other users which object this tab has open, and in which property its user is.
import { sendRequest, api } from './client';

/** Reports the object and property of this tab. Must be repeated: the server removes the entry after 45 s. */
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
