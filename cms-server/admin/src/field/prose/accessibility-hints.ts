// Hints for accessible texts: never refusals.
import type { Node } from 'prosemirror-model';
import { t } from '../../text';

export interface Hint {
  pos: number;
  text: string;
}

const VAGUE_LINK_TEXT =
  /^(here|click here|read more|more|link|this link|hier|hier klicken|mehr|weiterlesen)[.:!…]*$/i;

/** Collects the hints of a document while it is walked once. */
export class HintCollector {
  readonly hints: Hint[] = [];
  private level = 0;

  add(pos: number, text: string): void {
    this.hints.push({ pos, text });
  }

  heading(pos: number, level: number, text: string): void {
    if (text.trim() === '') this.add(pos, t.texts.hintEmptyHeading);
    // Most sites show the title of the object above: the first heading may be of level 1 to 3.
    const skips = this.level === 0 ? level > 3 : level > this.level + 1;
    if (skips) this.add(pos, t.texts.hintOrder(level, this.level));
    this.level = level;
  }

  image(pos: number, src: string, alt: string | null): void {
    if (alt === null) this.add(pos, t.texts.hintAlt(src.split('/').at(-1) ?? src));
  }

  /** Link texts of one line. */
  links(line: Node, pos: number): void {
    let text = '';
    let href: string | null = null;
    const end = (at: number) => {
      if (href !== null && text.trim() === '') this.add(at, t.texts.hintEmptyLink);
      else if (href !== null && VAGUE_LINK_TEXT.test(text.trim()))
        this.add(at, t.texts.hintLink(text.trim()));
    };
    line.forEach((node, offset) => {
      const found = node.marks.find((mark) => mark.type.name === 'link');
      const target: string | null = found ? found.attrs.href : null;
      if (target !== href) {
        end(pos + offset);
        text = '';
        href = target;
      }
      if (target !== null) text += node.isText ? (node.text ?? '') : (node.attrs.alt ?? ' ');
    });
    end(pos + line.content.size);
  }

  table(table: Node, pos: number): void {
    let header = false;
    table.descendants((node) => {
      if (node.type.name === 'table_header') header = true;
      return !header && !node.isTextblock;
    });
    if (!header && table.childCount > 1) this.add(pos, t.texts.hintTable);
  }
}
