// Uploads that belong together, such as those of a form: the form is saved only when none of them is running.
import { SvelteSet } from 'svelte/reactivity';

export interface RunningUploads {
  /** Number of files that wait or are being sent. */
  readonly running: number;
  cancelAll(): void;
}

export class UploadGroup implements RunningUploads {
  readonly #members = new SvelteSet<RunningUploads>();

  /** Adds uploads; returns a function that removes them. */
  add(uploads: RunningUploads): () => void {
    this.#members.add(uploads);
    return () => void this.#members.delete(uploads);
  }

  get running(): number {
    return [...this.#members].reduce((sum, { running }) => sum + running, 0);
  }

  cancelAll(): void {
    for (const uploads of this.#members) uploads.cancelAll();
  }
}
