// What happens when the session ends under the open page: requests wait until the same user has signed in
// again. For another user, the page is loaded again; other tabs are notified.
import { setReauthentication, type Schema } from '../api/client';
import type { Problem } from '../api/problem';
import { session, useSession } from './session.svelte';

let waiting: ((signedIn: boolean) => void)[] = $state.raw([]);
let foreign = false;

export const expired = {
  /** Requests wait for a sign-in. */
  get shown(): boolean {
    return waiting.length > 0;
  },
  /** Another user has signed in: nothing of this page may be sent in their name. */
  get isForeign(): boolean {
    return foreign;
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
  if (signedIn.user.id !== session.context?.user.id) {
    reloadForOtherUser();
    return null;
  }
  const problem = await useSession(signedIn);
  if (!problem) {
    resumeRequests();
    channel?.postMessage({ user: signedIn.user.id });
  }
  return problem;
}

/** Loads the page again because another user has signed in; unsaved work of the first user stays stored. */
function reloadForOtherUser(): void {
  foreign = true;
  location.reload();
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
}
