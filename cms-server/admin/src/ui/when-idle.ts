// Loads code that may be needed later, once the user has begun to work and the browser is idle: then the code is
// available immediately, and without a network. Knows no code to load.

const DELAY_MS = 4000;
const IDLE_TIMEOUT_MS = 5000;

/** Loads parts of the page ahead of their first use; returns a function that cancels this. */
export function loadWhenIdle(loaders: (() => Promise<unknown>)[]): () => void {
  let idle = 0;
  const load = () => {
    // A part that fails is loaded again, and reported, when it is needed.
    if (navigator.onLine) for (const loader of loaders) loader().catch(() => undefined);
  };
  const timer = setTimeout(() => {
    // Some browsers do not report when they are idle.
    if (typeof requestIdleCallback === 'function')
      idle = requestIdleCallback(load, { timeout: IDLE_TIMEOUT_MS });
    else load();
  }, DELAY_MS);
  return () => {
    clearTimeout(timer);
    if (idle !== 0) cancelIdleCallback(idle);
  };
}
