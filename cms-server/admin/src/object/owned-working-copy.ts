// OwnedWorkingCopy: the working copy of one object on the server, if it belongs to one *work* (unsaved edits, which a
// UUID identifies). A copy of another work is neither replaced nor removed: other devices and tabs of the user write
// there too.
import type { Problem } from '../api/problem';
import {
  contentOf,
  readCopy,
  removeCopy,
  sendCopyOnLeave,
  writeCopy,
  type CopyContent,
} from './working-copy';

/** `other-work`: there is a copy of another work, which stays. */
export type CopyWriteResult = 'stored' | 'other-work' | { problem: Problem };

/** After a 412 the stored copy is read, and if it is of this work, the write is repeated. */
const MAX_ATTEMPTS = 3;

export class OwnedWorkingCopy {
  constructor(
    private readonly type: string,
    private readonly id: string,
    private readonly workId: string,
    /** `ETag` of the copy that may be replaced; null if none is known: then the owner of the stored copy is checked. */
    private copyTag: string | null,
  ) {}

  get tag(): string | null {
    return this.copyTag;
  }

  async write(content: CopyContent): Promise<CopyWriteResult> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const found = this.copyTag === null ? await this.#checkOwner() : 'own';
      if (found !== 'own') return found;
      const result = await writeCopy(this.type, this.id, { ...content, workId: this.workId }, this.copyTag);
      if (!('problem' in result)) {
        this.copyTag = result.etag;
        return 'stored';
      }
      if (result.problem.status !== 412) return result;
      this.copyTag = null;
    }
    return 'other-work';
  }

  /** Sends while the page may be closing; true when a response shows that the copy is stored. */
  async send(content: CopyContent): Promise<boolean> {
    // Without the tag of the stored copy, the request could overwrite that of another work.
    if (this.copyTag === null && (await this.#checkOwner()) !== 'own') return false;
    const tag = await sendCopyOnLeave(this.type, this.id, { ...content, workId: this.workId }, this.copyTag);
    if (tag !== null) this.copyTag = tag;
    return tag !== null;
  }

  async remove(): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      if (this.copyTag === null && (await this.#checkOwner()) !== 'own') return;
      const tag = this.copyTag;
      if (tag === null) return;
      const result = await removeCopy(this.type, this.id, tag);
      this.copyTag = null;
      if (!('problem' in result) || result.problem.status !== 412) return;
    }
  }

  /** Reads the stored copy and keeps its tag if it is of this work; `own` also when there is none. */
  async #checkOwner(): Promise<'own' | 'other-work' | { problem: Problem }> {
    const result = await readCopy(this.type, this.id);
    if ('problem' in result) {
      if (result.problem.status !== 404) return result;
      this.copyTag = null;
      return 'own';
    }
    if (contentOf(result.data).workId !== this.workId) return 'other-work';
    this.copyTag = result.etag;
    return 'own';
  }
}
