// What the editor needs to know of a kind of text: rich text or blocks.
import type { Node, NodeType } from 'prosemirror-model';
import type { Command, Plugin } from 'prosemirror-state';
import type { Summary } from '../../object/summary';
import type { Hint } from './accessibility-hints';
import type { Tool, Tools } from './tool';

export interface EditorConfig {
  name: string;
  listItem: NodeType;
  hardBreak: NodeType;
  tools: Tools;
  /** Commands of Enter, which are tried before those of every editor. */
  enter: Command[];
  plugins: Plugin[];
  hints: (doc: Node) => Hint[];
  /** What "/" at the start of an empty paragraph offers. */
  insertions: Tool[];
  takesImages: boolean;
  /** A node for an uploaded image. */
  imageNode: (file: Summary) => Node | null;
}
