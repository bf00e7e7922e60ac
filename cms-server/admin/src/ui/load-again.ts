// Loads code that the page needs now, again and again until it arrives: the server or the network may be unavailable
// for a while. Many browsers cache the failure; then the page offers to be loaded again, once it is online. Knows no
// code to load.

const MAX_DELAY_MS = 30_000;

export async function loadAgain<T>(load: () => Promise<T>): Promise<T> {
  for (let delay = 1000; ; delay = Math.min(2 * delay, MAX_DELAY_MS)) {
    try {
      return await load();
    } catch {
      await elapsedOrOnline(delay);
    }
  }
}

async function elapsedOrOnline(delay: number): Promise<void> {
  const wait = new AbortController();
  await new Promise<void>((done) => {
    const end = () => done();
    addEventListener('online', end, { signal: wait.signal });
    setTimeout(end, delay);
  });
  wait.abort();
}
