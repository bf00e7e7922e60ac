// CodeMirror as the page uses it: in a shadow root, so that its styles are adopted style sheets, which the
// security policy allows. Line endings are kept.
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { HighlightStyle, indentOnInput, syntaxHighlighting, syntaxTree } from '@codemirror/language';
import { search, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, RangeSetBuilder, type Extension } from '@codemirror/state';
import { Decoration, drawSelection, EditorView, keymap, ViewPlugin, type ViewUpdate } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { t } from '../../text';

/** `\r\n` if every line ends with it, else `\n`. Other line separators stay characters of their lines. */
export function separatorOf(text: string): '\r\n' | '\n' {
  const lineBreaks = text.split('\n').length - 1;
  return lineBreaks > 0 && text.split('\r\n').length - 1 === lineBreaks ? '\r\n' : '\n';
}

const theme = EditorView.theme({
  '&': { color: 'var(--ink)', fontSize: 'var(--text-m)', backgroundColor: 'transparent' },
  '&.cm-focused': { outline: 'var(--focus)' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5', maxBlockSize: '70vh', overflow: 'auto' },
  '.cm-content': { padding: 'var(--space-2) 0', caretColor: 'var(--ink)', minBlockSize: '5rem' },
  '.cm-line': { padding: '0 var(--space-3)' },
  '.cm-cursor': { borderInlineStartColor: 'var(--ink)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--selected)',
  },
  '.cm-wrong': { textDecoration: 'underline wavy var(--danger)' },
  '.cm-wrong-line': { backgroundColor: 'var(--danger-fill)' },
  '.cm-panels': { backgroundColor: 'var(--raised)', color: 'var(--ink)' },
  '.cm-panels input, .cm-panels button': { font: 'inherit', color: 'inherit' },
  '.cm-textfield': { backgroundColor: 'var(--surface)', border: '1px solid var(--line-strong)' },
  '.cm-button': {
    backgroundColor: 'var(--surface)',
    backgroundImage: 'none',
    border: '1px solid var(--line-strong)',
  },
  '.cm-searchMatch': { backgroundColor: 'var(--warning-fill)' },
});

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.link, tags.url], color: 'var(--accent)' },
  { tag: [tags.string, tags.monospace, tags.quote], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--warning)' },
  { tag: tags.invalid, color: 'var(--danger)' },
  { tag: tags.heading, fontWeight: '700' },
  { tag: tags.strong, fontWeight: '700' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: tags.strikethrough, textDecoration: 'line-through' },
  { tag: [tags.processingInstruction, tags.contentSeparator, tags.meta], color: 'var(--ink-soft)' },
]);

/** Marks the first place that does not fit the grammar, and reports its line. */
export function firstError(report: (line: number | null) => void): Extension {
  const find = (state: EditorState) => {
    let at: number | null = null;
    if (state.doc.length > 0)
      syntaxTree(state).iterate({
        enter: (node) => {
          if (node.type.isError && at === null) at = node.from;
          return at === null;
        },
      });
    return at;
  };
  const marks = (view: EditorView) => {
    const at = find(view.state);
    const builder = new RangeSetBuilder<Decoration>();
    if (at !== null) {
      const line = view.state.doc.lineAt(at);
      builder.add(line.from, line.from, Decoration.line({ class: 'cm-wrong-line' }));
      const to = Math.min(at + 1, line.to);
      if (to > at) builder.add(at, to, Decoration.mark({ class: 'cm-wrong' }));
    }
    report(at === null ? null : view.state.doc.lineAt(at).number);
    return builder.finish();
  };
  return ViewPlugin.define(
    (view) => ({
      marks: marks(view),
      update(update: ViewUpdate) {
        if (update.docChanged || syntaxTree(update.state) !== syntaxTree(update.startState))
          this.marks = marks(update.view);
      },
    }),
    { decorations: (plugin) => plugin.marks },
  );
}

export interface CodeOptions {
  text: string;
  label: string;
  describedBy: string | undefined;
  invalid: boolean;
  readonly: boolean;
  extensions: Extension[];
  onchange: (text: string) => void;
}

export interface CodeEditor {
  view: EditorView;
  update: (options: Pick<CodeOptions, 'label' | 'describedBy' | 'invalid' | 'readonly'>) => void;
}

/** Creates an editor in `host`. */
export function createCode(host: HTMLElement, options: CodeOptions): CodeEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  root.replaceChildren();
  const separator = separatorOf(options.text);
  const settings = new Compartment();
  const settingsOf = ({ label, describedBy, invalid, readonly }: Parameters<CodeEditor['update']>[0]) => [
    EditorState.readOnly.of(readonly),
    EditorView.contentAttributes.of({
      // Accessibility checkers need this to detect that the text can be scrolled by keyboard.
      tabindex: '0',
      'aria-label': label,
      'aria-invalid': String(invalid),
      ...(describedBy && { 'aria-description': describedText(describedBy) }),
      ...(readonly && { 'aria-readonly': 'true' }),
    }),
  ];
  const view = new EditorView({
    root,
    parent: root,
    doc: options.text,
    extensions: [
      EditorState.lineSeparator.of(separator),
      // Line breaks of a paste become those of the text.
      EditorView.clipboardInputFilter.of((text) => text.replace(/\r\n?|\n/g, separator)),
      EditorState.phrases.of(t.texts.phrases),
      settings.of(settingsOf(options)),
      options.extensions,
      history(),
      drawSelection(),
      indentOnInput(),
      search({ top: true }),
      EditorView.lineWrapping,
      EditorView.perLineTextDirection.of(true),
      syntaxHighlighting(colours),
      theme,
      keymap.of([
        ...defaultKeymap.filter(({ key }) => key !== 'Mod-Enter'),
        ...historyKeymap,
        ...searchKeymap,
      ]),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) options.onchange(update.state.sliceDoc());
      }),
    ],
  });
  return {
    view,
    update: (changed) => view.dispatch({ effects: settings.reconfigure(settingsOf(changed)) }),
  };
}

/** Help and errors as text: ids do not reach into a shadow root. */
function describedText(ids: string): string {
  const parts = ids.split(' ').map((id) => document.getElementById(id)?.textContent.trim() ?? '');
  return parts.filter((part) => part !== '').join(' ');
}
