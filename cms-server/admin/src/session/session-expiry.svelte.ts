// What happens when the session ends or changes under the open page: requests wait until the same user has signed in
// again. For another user, the page is loaded again; other tabs are notified. Changed rights are taken over.
import { setReauthentication, type Schema } from '../api/client';
import type { Problem } from '../api/problem';
import { loadSession, reloadForOtherUser, session, useSession } from './session.svelte';

let waiting: ((signedIn: boolean) => void)[] = $state.raw([]);

export const expired = {
  /** Requests wait for a sign-in. */
  get shown(): boolean {
    return waiting.length > 0;
  },
};

/** Sends the waiting requests again. */
function resumeRequests(): void {
  const all = waiting;
  waiting = [];
  for (const done of all) done(true);
}

/** Continues with the session of a sign-in in the dialog. */
export async function continueAs(signedIn: Schema['CurrentSession']): Promise<Problem | null> {
  const problem = await useSession(signedIn);
  if (!problem && !session.isOtherUser) {
    resumeRequests();
    channel?.postMessage({ user: signedIn.user.id });
  }
  return problem;
}

const channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel('cms-session') : undefined;

/** Notifies the other tabs of the user who is signed in here. */
export function announceUser(): void {
  const user = session.context?.user.id;
  if (user !== undefined) channel?.postMessage({ user });
}

/** Starts to watch for the end of the session; called once. */
export function watchSession(): void {
  setReauthentication(() => {
    if (!session.context) return Promise.resolve(false);
    return new Promise((done) => (waiting = [...waiting, done]));
  });
  channel?.addEventListener('message', (event: MessageEvent<{ user?: unknown }>) => {
    const user = session.context?.user.id;
    if (user === undefined || typeof event.data.user !== 'string') return;
    if (event.data.user !== user) reloadForOtherUser();
    else resumeRequests();
  });
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden && session.context && !session.isOtherUser) void loadSession();
  });
}
