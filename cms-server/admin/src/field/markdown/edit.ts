// Edits of Markdown: each touches only the lines and the words that it is for.
import { EditorSelection, type ChangeSpec, type EditorState, type TransactionSpec } from '@codemirror/state';

/** Puts a mark around each selection, or takes it away. */
export function toggleAround(state: EditorState, mark: string): TransactionSpec {
  const size = mark.length;
  return state.changeByRange((range) => {
    const { from, to } = range;
    const inside = state.sliceDoc(from, to);
    const isAround =
      endsIn(state.sliceDoc(Math.max(0, from - 3), from), mark) &&
      beginsWith(state.sliceDoc(to, to + 3), mark);
    if (from >= size && isAround) {
      return {
        changes: [
          { from: from - size, to: from },
          { from: to, to: to + size },
        ],
        range: EditorSelection.range(from - size, to - size),
      };
    }
    if (inside.length > 2 * size && beginsWith(inside, mark) && endsIn(inside, mark)) {
      return {
        changes: [
          { from, to: from + size },
          { from: to - size, to },
        ],
        range: EditorSelection.range(from, to - 2 * size),
      };
    }
    return {
      changes: [
        { from, insert: mark },
        { from: to, insert: mark },
      ],
      range: EditorSelection.range(from + size, to + size),
    };
  });
}

const LINE_PREFIX = /^(\s*)(#{1,6} |> |[-*+] |\d+[.)] )?/;

/** Begins each selected line with a mark, or takes it away when all lines have it. */
export function toggleLines(state: EditorState, mark: (index: number) => string): TransactionSpec {
  const changes: ChangeSpec[] = [];
  const lines = selectedLines(state);
  const all = lines.every((line, index) => LINE_PREFIX.exec(line.text)?.[2] === mark(index));
  lines.forEach((line, index) => {
    const [, space = '', old = ''] = LINE_PREFIX.exec(line.text) ?? [];
    const from = line.from + space.length;
    changes.push({ from, to: from + old.length, insert: all ? '' : mark(index) });
  });
  return { changes };
}

function selectedLines(state: EditorState) {
  const { from, to } = state.selection.main;
  const first = state.doc.lineAt(from).number;
  const last = state.doc.lineAt(to).number;
  return Array.from({ length: last - first + 1 }, (_, index) => state.doc.line(first + index));
}

/** Replaces the selection by text, and puts the cursor after it. */
export function insert(state: EditorState, text: string): TransactionSpec {
  const { from, to } = state.selection.main;
  const { lineBreak } = state;
  const shown = text.replaceAll('\n', lineBreak);
  // Positions count a line break as one character.
  return {
    changes: { from, to, insert: state.toText(shown) },
    selection: EditorSelection.cursor(from + text.length),
    scrollIntoView: true,
  };
}

/** A block on lines of its own. */
export function insertBlock(state: EditorState, block: string): TransactionSpec {
  const { from } = state.selection.main;
  const line = state.doc.lineAt(from);
  const before = line.text.trim() === '' ? '' : '\n\n';
  const at = line.to;
  const text = `${before}${block}\n`;
  return {
    changes: { from: at, insert: state.toText(text.replaceAll('\n', state.lineBreak)) },
    selection: { anchor: at + text.length },
    scrollIntoView: true,
  };
}

/** Returns whether a run of mark characters has the mark: two are `**` without `*`, three are `*` and `**`. */
function hasMark(run: number, mark: string): boolean {
  return mark === '*' || mark === '_' ? run % 2 === 1 : run >= mark.length;
}

function beginsWith(text: string, mark: string): boolean {
  if (!text.startsWith(mark)) return false;
  let run = 0;
  while (text[run] === mark[0]) run += 1;
  return hasMark(run, mark);
}

function endsIn(text: string, mark: string): boolean {
  return beginsWith([...text].reverse().join(''), [...mark].reverse().join(''));
}
