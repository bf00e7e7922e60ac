// Nodes never change: what is written for one is written once.
import type { Node } from 'prosemirror-model';

export function oncePerNode(write: (node: Node) => string): (node: Node) => string {
  const written = new WeakMap<Node, string>();
  return (node) => {
    const text = written.get(node) ?? write(node);
    written.set(node, text);
    return text;
  };
}
