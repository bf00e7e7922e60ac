// Nodes of ProseMirror never change, so the text that is written for a node is cached.
import type { Node } from 'prosemirror-model';

export function memoizeByNode(write: (node: Node) => string): (node: Node) => string {
  const written = new WeakMap<Node, string>();
  return (node) => {
    const text = written.get(node) ?? write(node);
    written.set(node, text);
    return text;
  };
}
