import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { readEventStream } from './change-feed';

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

it('ends a stream on which nothing arrives for 45 seconds', async () => {
  let send: (text: string) => void = () => undefined;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      send = (text) => controller.enqueue(new TextEncoder().encode(text));
    },
  });
  vi.stubGlobal('fetch', () =>
    Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } })),
  );
  const positions: string[] = [];
  let end: unknown = 'open';
  void readEventStream(null, new AbortController().signal, {
    onopen: () => undefined,
    onchange: () => undefined,
    onpresence: () => undefined,
    onposition: (position) => positions.push(position),
  }).then((result) => (end = result));
  for (const position of ['1-x', '2-x', '3-x']) {
    await vi.advanceTimersByTimeAsync(44_000);
    send(`id: ${position}\n\n`);
  }
  await vi.advanceTimersByTimeAsync(44_000);
  expect([end, positions]).toEqual(['open', ['1-x', '2-x', '3-x']]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(end).toEqual({ ended: true });
});
