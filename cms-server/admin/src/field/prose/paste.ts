// Pastes: refuses what is too large, reports what the schema leaves out, and keeps everything that the page does not
// edit in copies inside the page.
import type { Slice } from 'prosemirror-model';
import { Plugin } from 'prosemirror-state';
import { elementName, parseHtml, renameReported } from '../../text/html';
import { t } from '../../text';
import { isOwnImage } from '../../value/url';
import { uuid } from '../../value/uuid';

/** An object has at most 1 MB: a larger text is not pasted. */
export const MAX_PASTE_CHARS = 1_000_000;

const REMOVED_ELEMENTS = 'script, svg, iframe, video, audio, object, embed, form, canvas, math';
const COPY_TYPE = 'application/x-cms-copy';

/** The last copy from an editor of this tab: the clipboard does not have the kept attributes. */
let copied: { token: string; schema: string; slice: Slice } | null = null;

/** `note` shows what was left out of a paste; `images` uploads pasted or dropped images, or returns false. */
export function pastePlugin(
  schema: string,
  note: (text: string) => void,
  images: (files: File[], pos?: number) => boolean,
): Plugin {
  return new Plugin({
    props: {
      transformPastedHTML: renameReported,
      transformCopied: (slice) => {
        copied = { token: uuid(), schema, slice };
        return slice;
      },
      handleDOMEvents: {
        drop: (view, event) => {
          const files = [...(event.dataTransfer?.files ?? [])].filter((file) =>
            file.type.startsWith('image/'),
          );
          if (files.length === 0 || !view.editable) return false;
          event.preventDefault();
          const place = view.posAtCoords({ left: event.clientX, top: event.clientY })?.pos;
          if (!images(files, place)) note(t.texts.leftOut(t.texts.leftOutImageFiles(files.length)));
          return true;
        },
        paste: (view, event) => {
          note('');
          const data = event.clipboardData;
          if (!data || !view.editable) return false;
          if (copied !== null && copied.schema === schema && data.getData(COPY_TYPE) === copied.token) {
            event.preventDefault();
            let { slice } = copied;
            // The editor of another property may allow less.
            view.someProp('transformPasted', (transform) => {
              slice = transform(slice, view, false);
            });
            view.dispatch(view.state.tr.replaceSelection(slice).scrollIntoView().setMeta('paste', true));
            return true;
          }
          const text = data.getData('text/plain');
          const html = data.getData('text/html');
          if (text.length > MAX_PASTE_CHARS) {
            event.preventDefault();
            note(t.texts.pasteTooLarge);
            return true;
          }
          if (html.length > MAX_PASTE_CHARS) {
            event.preventDefault();
            view.pasteText(text);
            note(t.texts.pastedPlain);
            return true;
          }
          const files = [...data.files].filter((file) => file.type.startsWith('image/'));
          if (html === '' && files.length > 0) {
            event.preventDefault();
            if (!images(files)) note(t.texts.leftOut(t.texts.leftOutImageFiles(files.length)));
            return true;
          }
          if (html !== '') note(leftOut(html));
          return false;
        },
      },
    },
  });
}

/** Marks copies from an editor inside `host`, after the editor has filled the clipboard. */
export function markCopies(host: HTMLElement): void {
  const mark = (event: ClipboardEvent) => {
    if (copied) event.clipboardData?.setData(COPY_TYPE, copied.token);
  };
  host.addEventListener('copy', mark);
  host.addEventListener('cut', mark);
}

/** Names the elements and images of pasted HTML that the schema leaves out. */
export function leftOut(html: string): string {
  const body = parseHtml(html).body;
  const tags = new Set(
    [...body.querySelectorAll(REMOVED_ELEMENTS)].map((element) => `<${elementName(element)}>`),
  );
  const images = [...body.querySelectorAll('img')].filter(
    (image) => !isOwnImage(image.getAttribute('src') ?? ''),
  );
  const names = images.map((image) => {
    const src = image.getAttribute('src') ?? '';
    const alt = image.getAttribute('alt') ?? '';
    return alt !== '' ? alt : src.startsWith('data:') ? 'data:' : src.slice(0, 80);
  });
  const parts = [...tags];
  if (names.length > 0) parts.push(t.texts.leftOutImages([...new Set(names)].slice(0, 5).join(', ')));
  return parts.length > 0 ? t.texts.leftOut(parts.join(', ')) : '';
}
