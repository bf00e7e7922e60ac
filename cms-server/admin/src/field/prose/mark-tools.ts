// Tools that rich texts and blocks share: marks, undo, moving blocks, tables.
import ArrowDown from '@lucide/svelte/icons/arrow-down';
import ArrowUp from '@lucide/svelte/icons/arrow-up';
import BetweenHorizontalEnd from '@lucide/svelte/icons/between-horizontal-end';
import BetweenHorizontalStart from '@lucide/svelte/icons/between-horizontal-start';
import BetweenVerticalEnd from '@lucide/svelte/icons/between-vertical-end';
import BetweenVerticalStart from '@lucide/svelte/icons/between-vertical-start';
import Bold from '@lucide/svelte/icons/bold';
import Code from '@lucide/svelte/icons/code';
import FoldHorizontal from '@lucide/svelte/icons/fold-horizontal';
import FoldVertical from '@lucide/svelte/icons/fold-vertical';
import Italic from '@lucide/svelte/icons/italic';
import Link from '@lucide/svelte/icons/link';
import ListIndentDecrease from '@lucide/svelte/icons/list-indent-decrease';
import ListIndentIncrease from '@lucide/svelte/icons/list-indent-increase';
import PanelTop from '@lucide/svelte/icons/panel-top';
import Pencil from '@lucide/svelte/icons/pencil';
import Plus from '@lucide/svelte/icons/plus';
import Redo2 from '@lucide/svelte/icons/redo-2';
import RemoveFormatting from '@lucide/svelte/icons/remove-formatting';
import Strikethrough from '@lucide/svelte/icons/strikethrough';
import Subscript from '@lucide/svelte/icons/subscript';
import Superscript from '@lucide/svelte/icons/superscript';
import TableCellsMerge from '@lucide/svelte/icons/table-cells-merge';
import TableCellsSplit from '@lucide/svelte/icons/table-cells-split';
import Trash2 from '@lucide/svelte/icons/trash-2';
import Underline from '@lucide/svelte/icons/underline';
import Undo2 from '@lucide/svelte/icons/undo-2';
import { redo, undo } from 'prosemirror-history';
import type { NodeType, Schema } from 'prosemirror-model';
import { liftListItem, sinkListItem } from 'prosemirror-schema-list';
import {
  addColumnAfter,
  addColumnBefore,
  addRowAfter,
  addRowBefore,
  deleteColumn,
  deleteRow,
  deleteTable,
  mergeCells,
  splitCell,
  toggleHeaderRow,
} from 'prosemirror-tables';
import type { EditorState } from 'prosemirror-state';
import type { EditorView } from 'prosemirror-view';
import type { Component } from 'svelte';
import { t } from '../../text';
import { clearMarks, deleteBlock, linkAt, mark, moveBlock } from './commands';
import { hasMark, type Tool } from './tool';

function markTool(schema: Schema, name: string, label: string, icon: Component, keys?: string): Tool[] {
  const type = schema.marks[name];
  if (!type) return [];
  const active: Tool['active'] = (state) => hasMark(state, type);
  return [{ id: name, label, icon, command: mark(type), active, ...(keys && { keys }) }];
}

/** The buttons of marks in two groups: the frequent ones with the link, and the others. */
export function markTools(schema: Schema): Tool[][] {
  const link: Tool = {
    id: 'link',
    label: t.texts.link,
    icon: Link,
    keys: 'Mod-Shift-k',
    open: 'link',
    command: (state) =>
      state.selection.$from.parent.inlineContent && !state.selection.$from.parent.type.spec.code,
    active: (state) => linkAt(state) !== null,
  };
  return [
    [
      ...markTool(schema, 'strong', t.texts.strong, Bold, 'Mod-b'),
      ...markTool(schema, 'em', t.texts.em, Italic, 'Mod-i'),
      link,
    ],
    [
      ...markTool(schema, 'underline', t.texts.underline, Underline, 'Mod-u'),
      ...markTool(schema, 'strike', t.texts.strike, Strikethrough),
      ...markTool(schema, 'code', t.texts.code, Code, 'Mod-e'),
      ...markTool(schema, 'sub', t.texts.sub, Subscript),
      ...markTool(schema, 'sup', t.texts.sup, Superscript),
      { id: 'clear', label: t.texts.clearFormat, icon: RemoveFormatting, command: clearMarks },
    ],
  ];
}

export const insertTool = (): Tool => ({
  id: 'insert',
  label: t.texts.insert,
  icon: Plus,
  open: 'insert',
  command: () => true,
});

/** Edits what is at the selection in a dialog. */
export function editTool<T>(
  label: string,
  targetAt: (state: EditorState) => T | null,
  edit: (view: EditorView, target: T) => void,
): Tool {
  return {
    id: 'edit',
    label,
    icon: Pencil,
    command: (state) => targetAt(state) !== null,
    open: (view) => {
      const target = targetAt(view.state);
      if (target) edit(view, target);
    },
  };
}

/** The buttons that move and remove a block, and those of undo. */
export function blockTools(): Tool[][] {
  const texts = t.texts;
  return [
    [
      { id: 'up', label: texts.moveUp, icon: ArrowUp, keys: 'Alt-ArrowUp', command: moveBlock(-1) },
      { id: 'down', label: texts.moveDown, icon: ArrowDown, keys: 'Alt-ArrowDown', command: moveBlock(1) },
      { id: 'delete', label: texts.deleteBlock, icon: Trash2, command: deleteBlock },
    ],
    [
      { id: 'undo', label: texts.undo, icon: Undo2, keys: 'Mod-z', command: undo },
      { id: 'redo', label: texts.redo, icon: Redo2, keys: 'Shift-Mod-z', command: redo },
    ],
  ];
}

export function itemTools(item: NodeType): Tool[] {
  const texts = t.texts;
  return [
    { id: 'indent', label: texts.indent, icon: ListIndentIncrease, command: sinkListItem(item) },
    { id: 'outdent', label: texts.outdent, icon: ListIndentDecrease, command: liftListItem(item) },
  ];
}

/** Tools of a table; `spans`: cells can be merged. */
export function tableTools(spans: boolean): Tool[] {
  const texts = t.texts;
  return [
    { id: 'row-before', label: texts.rowBefore, icon: BetweenVerticalStart, command: addRowBefore },
    { id: 'row-after', label: texts.rowAfter, icon: BetweenVerticalEnd, command: addRowAfter },
    {
      id: 'column-before',
      label: texts.columnBefore,
      icon: BetweenHorizontalStart,
      command: addColumnBefore,
    },
    { id: 'column-after', label: texts.columnAfter, icon: BetweenHorizontalEnd, command: addColumnAfter },
    { id: 'row-delete', label: texts.deleteRow, icon: FoldVertical, command: deleteRow },
    { id: 'column-delete', label: texts.deleteColumn, icon: FoldHorizontal, command: deleteColumn },
    { id: 'header', label: texts.headerRow, icon: PanelTop, command: toggleHeaderRow },
    ...(spans
      ? [
          { id: 'merge', label: texts.mergeCells, icon: TableCellsMerge, command: mergeCells },
          { id: 'split', label: texts.splitCell, icon: TableCellsSplit, command: splitCell },
        ]
      : []),
    { id: 'table-delete', label: texts.deleteTable, icon: Trash2, command: deleteTable },
  ];
}
