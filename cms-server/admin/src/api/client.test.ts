// @vitest-environment jsdom
import { afterEach, describe, expect, it, vi } from 'vitest';
import { sendExact } from './client';
import { uploadFile } from './upload';

afterEach(() => void vi.unstubAllGlobals());

const exact = (data: string) => sendExact(Promise.resolve({ data, response: new Response(data) }));

describe('a response with status 200 that is not from the server', () => {
  it.each(['<!doctype html><title>Sign in to the network</title>', '', '"text"', '[]', '{"id": "x"'])(
    'counts as no response: %j',
    async (text) => {
      expect(await exact(text)).toMatchObject({ problem: { status: 0 } });
    },
  );

  it('counts as no response to an upload', async () => {
    expect(await upload(200, '<!doctype html>')).toMatchObject({ problem: { status: 0 } });
    expect(await upload(200, '{"id": "x"}')).toMatchObject({ data: { id: 'x' } });
    // A proxy refuses the file.
    expect(await upload(413, '<!doctype html>')).toMatchObject({ problem: { status: 413 } });
  });
});

it('an object is read as it is', async () => {
  expect(await exact('{"id": "x"}')).toMatchObject({ data: { id: 'x' } });
});

/** Uploads a file, with this response. */
function upload(status: number, responseText: string) {
  vi.stubGlobal(
    'XMLHttpRequest',
    class {
      readonly upload = {};
      readonly status = status;
      readonly responseText = responseText;
      onload = () => undefined;
      open() {}
      setRequestHeader() {}
      getResponseHeader() {
        return null;
      }
      send() {
        setTimeout(() => this.onload());
      }
    },
  );
  const file = new File(['x'], 'a.png', { type: 'image/png' });
  return uploadFile({ file, signal: new AbortController().signal, onprogress: () => undefined });
}
