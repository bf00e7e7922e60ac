// Uploading one file with progress: XMLHttpRequest, because fetch does not report what was sent.
import { parsedJson } from '../value/json';
import { isRecord } from '../value/record';
import { sendRequest, reauthenticate, userHeaders, type ApiResult } from './client';

export interface Upload {
  file: File;
  signal: AbortSignal;
  /** The fraction of the bytes that is sent, between 0 and 1. */
  onprogress: (part: number) => void;
}

/** Sends a file to the media library; the response is the new object. Rejects when it was aborted. */
export async function uploadFile(upload: Upload): Promise<ApiResult<Record<string, unknown>>> {
  const result = await sendRequest<Record<string, unknown>>(send(upload));
  if (!('problem' in result) || result.problem.status !== 401) return result;
  return (await reauthenticate()) && !upload.signal.aborted ? uploadFile(upload) : result;
}

function send({ file, signal, onprogress }: Upload) {
  const form = new FormData();
  form.append('type', file.type.startsWith('image/') ? 'image' : 'file');
  // Browsers send a quote in the name of a part as `%22`.
  form.append('file', file, file.name.replaceAll('"', "'"));
  return new Promise<{ data?: Record<string, unknown>; error?: unknown; response: Response }>(
    (done, failed) => {
      const request = new XMLHttpRequest();
      request.open('POST', '/api/media');
      for (const [name, value] of Object.entries(userHeaders())) request.setRequestHeader(name, value);
      request.upload.onprogress = (event) => {
        if (event.lengthComputable && event.total > 0) onprogress(event.loaded / event.total);
      };
      request.onerror = () => failed(new TypeError('no response'));
      request.onabort = () => failed(new DOMException('aborted', 'AbortError'));
      request.onload = () => {
        const { status, responseText } = request;
        const headers = new Headers();
        for (const name of ['x-request-id', 'retry-after']) {
          const value = request.getResponseHeader(name);
          if (value !== null) headers.set(name, value);
        }
        const body = parsedJson(responseText);
        if (request.status < 300 && !isRecord(body)) {
          failed(new TypeError('not a response of the server'));
          return;
        }
        done({
          data: body as Record<string, unknown>,
          error: body,
          response: new Response(null, { status, headers }),
        });
      };
      signal.addEventListener('abort', () => request.abort());
      request.send(form);
    },
  );
}
