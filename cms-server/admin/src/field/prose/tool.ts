// Tools of a tool bar: a command, or something that opens a dialog.
import type { MarkType, Node, NodeType } from 'prosemirror-model';
import { NodeSelection, type Command, type EditorState } from 'prosemirror-state';
import type { EditorView } from 'prosemirror-view';
import type { Component } from 'svelte';
import type { BarItem } from '../../ui/Toolbar.svelte';

export interface Tool {
  id: string;
  label: string;
  icon: Component;
  /** Keys as ProseMirror names them, `Mod-b`: shown, and bound by the editor. */
  keys?: string;
  /** Runs when the tool is used; the tool is disabled while it does not apply. */
  command: Command;
  /** Opens a dialog instead. The command then only returns whether the tool applies. */
  open?: 'link' | 'insert' | ((view: EditorView) => void);
  /** A tool that is on or off. */
  active?: (state: EditorState) => boolean;
}

export interface Style {
  value: string;
  label: string;
  command: Command;
  active: (state: EditorState) => boolean;
}

/** The tools of an editor, given as groups. */
export interface Tools {
  styles: Style[];
  groups: Tool[][];
  /** Tools of the selected element, with the name of the element. */
  context: (state: EditorState) => { label: string; tools: Tool[] } | null;
}

/** Returns whether a mark is on at the selection. */
export function hasMark(state: EditorState, type: MarkType): boolean {
  const { from, $from, to, empty } = state.selection;
  if (empty) return type.isInSet(state.storedMarks ?? $from.marks()) !== undefined;
  return state.doc.rangeHasMark(from, to, type);
}

/** The selected node or the innermost node around the selection that has one of the types. */
export function enclosingNode(
  state: EditorState,
  ...types: (NodeType | undefined)[]
): { node: Node; pos: number } | null {
  const { selection } = state;
  if (selection instanceof NodeSelection && types.includes(selection.node.type))
    return { node: selection.node, pos: selection.from };
  const { $from } = selection;
  for (let depth = $from.depth; depth > 0; depth -= 1) {
    const node = $from.node(depth);
    if (types.includes(node.type)) return { node, pos: $from.before(depth) };
  }
  return null;
}

/** Tools as buttons, in a state of the editor. */
export function barItems(groups: Tool[][], state: EditorState): BarItem[][] {
  return groups.map((group) =>
    group.map(({ id, label, icon, keys, command, active, open }) => ({
      id,
      label,
      icon,
      keys,
      pressed: active?.(state),
      disabled: !command(state),
      opens: open !== undefined,
    })),
  );
}
