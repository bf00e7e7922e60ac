import { expect, it } from 'vitest';
import { sendWithProgress, type Progress } from './progress';

function streamed(text: string, type = 'text/event-stream', status = 200) {
  const response = new Response(text, { status, headers: { 'Content-Type': type, 'X-Request-Id': 'r1' } });
  return Promise.resolve({ data: response.body, response });
}

const PROGRESS = 'event: progress\ndata: {"type":"post","phase":"objects","done":1,"total":4}\n\n';

it('reports progress, then the result', async () => {
  const seen: Progress[] = [];
  const text = `: open\n\n${PROGRESS}event: result\ndata: {"status":200,"body":{"token":"a"}}\n\n`;
  const result = await sendWithProgress(streamed(text), (progress) => seen.push(progress));
  expect(result).toEqual({ data: { token: 'a' }, etag: null });
  expect(seen).toEqual([{ type: 'post', phase: 'objects', done: 1, total: 4 }]);
});

it('returns a refusal in the stream as a problem', async () => {
  const text = 'event: result\ndata: {"status":409,"body":{"code":409,"message":"The plan is stale"}}\n\n';
  const result = await sendWithProgress(streamed(text), () => undefined);
  expect(result).toMatchObject({ problem: { status: 409, message: 'The plan is stale', requestId: 'r1' } });
});

it('treats a stream without a result as an interrupted connection', async () => {
  const result = await sendWithProgress(streamed(PROGRESS), () => undefined);
  expect(result).toMatchObject({ problem: { status: 0 } });
});

it('reads the JSON of a server that does not stream', async () => {
  const result = await sendWithProgress(streamed('{"token":"a"}', 'application/json'), () => undefined);
  expect(result).toEqual({ data: { token: 'a' }, etag: null });
});
