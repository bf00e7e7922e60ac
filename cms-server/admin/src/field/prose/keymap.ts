// Keys of an editor, and the rule that Tab leaves the field after Escape.
import { baseKeymap, chainCommands, exitCode } from 'prosemirror-commands';
import { dropCursor } from 'prosemirror-dropcursor';
import { gapCursor } from 'prosemirror-gapcursor';
import { history, redo, undo } from 'prosemirror-history';
import { undoInputRule } from 'prosemirror-inputrules';
import { keymap } from 'prosemirror-keymap';
import { liftListItem, sinkListItem } from 'prosemirror-schema-list';
import { Plugin, type Command } from 'prosemirror-state';
import { goToNextCell, tableEditing } from 'prosemirror-tables';
import { moveBlock } from './commands';
import type { EditorConfig } from './editor-config';
import type { Tool } from './tool';

/** Pixels that bars cover when a key moves the cursor: the top bar and the tools above, the save bar below. */
const SCROLL_MARGIN = { top: 150, bottom: 120, left: 0, right: 0 };

/** The plugins that every editor has; Alt+F10 goes to the tool bar. */
export function basePlugins(
  { listItem, hardBreak, tools, enter }: EditorConfig,
  run: (tool: Tool) => void,
  toToolbar: () => void,
): Plugin[] {
  let escaped = false;
  const unlessEscaped =
    (command: Command): Command =>
    (state, dispatch, view) =>
      !escaped && command(state, dispatch, view);
  const lineBreak: Command = (state, dispatch) => {
    if (!state.selection.$from.parent.inlineContent) return false;
    dispatch?.(state.tr.replaceSelectionWith(hardBreak.create()).scrollIntoView());
    return true;
  };
  const toolKeys: Record<string, Command> = {};
  for (const tool of tools.groups.flat()) {
    if (!tool.keys) continue;
    toolKeys[tool.keys] = (state, dispatch, view) => {
      if (!tool.open) return tool.command(state, dispatch, view);
      if (dispatch) run(tool);
      return true;
    };
  }
  return [
    new Plugin({ props: { scrollThreshold: SCROLL_MARGIN, scrollMargin: SCROLL_MARGIN } }),
    new Plugin({
      props: {
        handleDOMEvents: {
          keydown: (_view, event) => {
            if (event.key === 'Escape') escaped = true;
            else if (event.key !== 'Tab' && event.key !== 'Shift') escaped = false;
            return false;
          },
          blur: () => {
            escaped = false;
            return false;
          },
          // A click on a link in the text edits it; the page does not navigate.
          click: (_view, event) => {
            if (event.target instanceof Element && event.target.closest('a')) event.preventDefault();
            return false;
          },
        },
      },
    }),
    keymap({
      ...toolKeys,
      'Mod-z': undo,
      'Shift-Mod-z': redo,
      'Mod-y': redo,
      Backspace: undoInputRule,
      'Alt-ArrowUp': moveBlock(-1),
      'Alt-ArrowDown': moveBlock(1),
      'Alt-F10': () => {
        toToolbar();
        return true;
      },
      'Shift-Enter': chainCommands(exitCode, lineBreak),
      Enter: chainCommands(...enter),
      Tab: unlessEscaped(chainCommands(goToNextCell(1), sinkListItem(listItem))),
      'Shift-Tab': unlessEscaped(chainCommands(goToNextCell(-1), liftListItem(listItem))),
    }),
    keymap(baseKeymap),
    history(),
    dropCursor({ color: false, class: 'drop-line' }),
    gapCursor(),
    tableEditing(),
  ];
}
