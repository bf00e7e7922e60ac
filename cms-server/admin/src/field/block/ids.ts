// Every block has an id of its own: a new block, one half of a split block, and a pasted copy get a new id.
import { Plugin } from 'prosemirror-state';
import { isRecord } from '../../value/record';
import { newRaw } from './schema';

const ID_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-';

function newId(): string {
  return [...crypto.getRandomValues(new Uint8Array(10))].map((byte) => ID_ALPHABET[byte % 64]).join('');
}

function idOf(raw: unknown): string | null {
  return isRecord(raw) && typeof raw.id === 'string' && raw.id !== '' ? raw.id : null;
}

export const blockIds = new Plugin({
  appendTransaction(transactions, before, after) {
    if (!transactions.some((each) => each.docChanged)) return null;
    // Unchanged blocks keep their ids, even an id that occurs twice.
    const unchanged = new Set<unknown>();
    before.doc.forEach((node) => unchanged.add(node));
    const used = new Set<string>();
    after.doc.forEach((node) => {
      const id = idOf(node.attrs.raw);
      if (id !== null && unchanged.has(node)) used.add(id);
    });
    // Changed blocks keep their ids, too. If one half of a split block is empty, the other half keeps the id.
    const keepId = new Set<unknown>();
    for (const empty of [false, true]) {
      after.doc.forEach((node) => {
        const id = idOf(node.attrs.raw);
        if (id === null || used.has(id) || (node.content.size === 0) !== empty) return;
        used.add(id);
        keepId.add(node);
      });
    }
    const tr = after.tr;
    after.doc.forEach((node, pos) => {
      if (unchanged.has(node) || keepId.has(node) || node.type.name === 'opaque') return;
      const type = node.type.name === 'code_block' ? 'code' : node.type.name;
      const { id: _replaced, ...raw } = isRecord(node.attrs.raw) ? node.attrs.raw : newRaw(type);
      // `id` is the first member, as in stored blocks.
      tr.setNodeAttribute(pos, 'raw', { id: newId(), ...raw });
    });
    return tr.docChanged ? tr : null;
  },
});
