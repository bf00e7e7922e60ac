// OwnedWorkingCopy: the working copy of one object on the server, if it belongs to one work. It is replaced and
// removed only while it is of this work: other devices and tabs of the same user write there too.
import type { Problem } from '../api/problem';
import {
  contentOf,
  readCopy,
  removeCopy,
  sendCopyOnLeave,
  writeCopy,
  type CopyContent,
} from './working-copy';

/** `foreign`: there is a copy of another work, which stays. */
export type CopyWriteResult = 'stored' | 'foreign' | { problem: Problem };

/** A 412 means that the copy is another one: it is looked at, and the write is repeated. */
const MAX_ATTEMPTS = 3;

export class OwnedWorkingCopy {
  constructor(
    private readonly type: string,
    private readonly id: string,
    private readonly work: string,
    /** `ETag` of the copy that may be replaced; null when there was none, undefined when that is not known. */
    private known: string | null | undefined,
  ) {}

  get tag(): string | null {
    return this.known ?? null;
  }

  async write(content: CopyContent): Promise<CopyWriteResult> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const found = this.tag === null ? await this.#checkOwner() : 'own';
      if (found !== 'own') return found;
      const result = await writeCopy(this.type, this.id, { ...content, work: this.work }, this.tag);
      if (!('problem' in result)) {
        this.known = result.etag ?? undefined;
        return 'stored';
      }
      if (result.problem.status !== 412) return result;
      this.known = undefined;
    }
    return 'foreign';
  }

  /** Sends while the page may be closed; true when it was not, and the copy is stored. */
  async send(content: CopyContent): Promise<boolean> {
    // Without knowing what is there, something could be overwritten.
    if (this.known === undefined) return false;
    const tag = await sendCopyOnLeave(this.type, this.id, { ...content, work: this.work }, this.known);
    if (tag !== null) this.known = tag;
    return tag !== null;
  }

  async remove(): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      if (this.tag === null && (await this.#checkOwner()) !== 'own') return;
      const { tag } = this;
      if (tag === null) return;
      const result = await removeCopy(this.type, this.id, tag);
      const isRemoved = !('problem' in result) || result.problem.status === 404;
      this.known = isRemoved ? null : undefined;
      if (isRemoved || result.problem.status !== 412) return;
    }
  }

  /** Reads whose copy is there; none counts as own. */
  async #checkOwner(): Promise<'own' | 'foreign' | { problem: Problem }> {
    const result = await readCopy(this.type, this.id);
    if ('problem' in result) {
      if (result.problem.status !== 404) return result;
      this.known = null;
      return 'own';
    }
    if (contentOf(result.data).work !== this.work) return 'foreign';
    this.known = result.etag;
    return 'own';
  }
}
