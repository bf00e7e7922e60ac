// Placeholders in empty lines: of the complete text, and of parts that have a name, such as a caption.
import { Plugin } from 'prosemirror-state';
import { Decoration, DecorationSet } from 'prosemirror-view';

/** `whole` returns the placeholder of an empty text; `(parent, index) => string` of a node type, that of a part. */
export function placeholders(whole: () => string): Plugin {
  return new Plugin({
    props: {
      decorations: ({ doc }) => {
        const found: Decoration[] = [];
        const mark = (from: number, to: number, text: string) => {
          if (text !== '')
            found.push(Decoration.node(from, to, { class: 'empty', 'data-placeholder': text }));
        };
        const only = doc.childCount === 1 ? doc.firstChild : null;
        if (only?.type.name === 'paragraph' && only.content.size === 0) mark(0, only.nodeSize, whole());
        doc.descendants((node, pos, parent, index) => {
          const name: unknown = node.isTextblock ? (node.type.spec.placeholder ?? null) : null;
          if (typeof name === 'function' && node.content.size === 0)
            mark(pos, pos + node.nodeSize, String(name(parent, index)));
          return !node.isTextblock;
        });
        return DecorationSet.create(doc, found);
      },
    },
  });
}
