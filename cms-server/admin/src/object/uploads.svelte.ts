// Uploads: the files that the user sends to the library, three at a time. Files over the limits of the server
// are refused before they are sent; each refused file keeps its reason and can be sent again alone.
import { uploadFile } from '../api/upload';
import type { Problem } from '../api/problem';
import { session } from '../session/session.svelte';
import { summaryOf, MEDIA_TYPE, type Summary } from './summary';

const MAX_PARALLEL = 3;

export type UploadState = 'waiting' | 'sending' | 'done' | 'refused' | 'cancelled';
/** Why a file was not accepted: a limit known before sending, or the response of the server. */
export type Refusal = { kind: 'size'; limit: number } | { kind: 'type' } | { kind: 'empty' } | Problem;

export class UploadItem {
  state: UploadState = $state('waiting');
  /** Between 0 and 1. */
  progress = $state(0);
  refusal: Refusal | null = $state.raw(null);
  result: Summary | null = $state.raw(null);
  /** The user sent it again: the media type is left to the server. */
  insisted = false;
  request: AbortController | null = null;

  constructor(
    readonly id: number,
    readonly file: File,
  ) {}
}

/** The limits of the server that a browser can check. */
export interface UploadLimits {
  fileBytes: number;
  mediaTypes: string[];
}

export function refusalBeforeSending(
  file: { size: number; type: string },
  limits: UploadLimits | undefined,
  insisted: boolean,
): Refusal | null {
  if (file.size === 0) return { kind: 'empty' };
  if (limits && file.size > limits.fileBytes) return { kind: 'size', limit: limits.fileBytes };
  // A browser that does not know the type leaves it empty: the server looks at the content.
  if (limits && !insisted && file.type !== '' && !limits.mediaTypes.includes(file.type))
    return { kind: 'type' };
  return null;
}

export class Uploads {
  items: UploadItem[] = $state.raw([]);
  paused = $state(false);
  private lastId = 0;

  /** `ondone` gets each stored file, in the order of completion. */
  constructor(private readonly ondone: (summary: Summary, item: UploadItem) => void) {}

  // Not `$derived`: that would keep its last value when the component that created the uploads is unmounted.
  get running(): number {
    return this.items.filter(({ state }) => state === 'waiting' || state === 'sending').length;
  }

  get done(): number {
    return this.items.filter(({ state }) => state === 'done').length;
  }

  get refused(): number {
    return this.items.filter(({ state }) => state === 'refused').length;
  }

  /** Part of all bytes that was sent. */
  get progress(): number {
    const counted = this.items.filter(({ state }) => state !== 'refused' && state !== 'cancelled');
    const all = counted.reduce((sum, { file }) => sum + file.size, 0);
    return all === 0 ? 0 : counted.reduce((sum, item) => sum + item.file.size * item.progress, 0) / all;
  }

  add(files: Iterable<File>): UploadItem[] {
    const added = [...files].map((file) => new UploadItem((this.lastId += 1), file));
    for (const item of added) this.check(item);
    this.items = [...this.items, ...added];
    this.next();
    return added;
  }

  /** Sends a refused or cancelled file again. */
  retry(item: UploadItem): void {
    item.insisted = true;
    item.progress = 0;
    item.state = 'waiting';
    this.check(item);
    this.next();
  }

  cancel(item: UploadItem): void {
    if (item.state !== 'waiting' && item.state !== 'sending') return;
    item.state = 'cancelled';
    item.request?.abort();
    this.next();
  }

  cancelAll(): void {
    for (const item of this.items) this.cancel(item);
  }

  /** Starts no further request; running requests continue. */
  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
    this.next();
  }

  /** Removes what is finished from the list. */
  clear(): void {
    this.items = this.items.filter(({ state }) => state === 'waiting' || state === 'sending');
  }

  private check(item: UploadItem): void {
    item.refusal = refusalBeforeSending(item.file, session.context?.limits, item.insisted);
    if (item.refusal) item.state = 'refused';
  }

  private next(): void {
    if (this.paused) return;
    const sending = this.items.filter(({ state }) => state === 'sending').length;
    const waiting = this.items.filter(({ state }) => state === 'waiting');
    for (const item of waiting.slice(0, Math.max(0, MAX_PARALLEL - sending))) void this.send(item);
  }

  private async send(item: UploadItem): Promise<void> {
    const request = new AbortController();
    item.request = request;
    item.state = 'sending';
    item.refusal = null;
    try {
      const result = await uploadFile({
        file: item.file,
        signal: request.signal,
        onprogress: (part) => (item.progress = part),
      });
      if ('problem' in result) {
        item.refusal = result.problem;
        item.state = 'refused';
      } else {
        item.progress = 1;
        item.result = summaryOf(MEDIA_TYPE, result.data);
        item.state = 'done';
        this.ondone(item.result, item);
      }
    } catch (error) {
      if (!(error instanceof DOMException)) throw error;
      item.state = 'cancelled';
    } finally {
      this.next();
    }
  }
}
