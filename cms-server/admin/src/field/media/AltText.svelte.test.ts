// @vitest-environment jsdom
// The component itself: what it saves after it was unmounted depends on its properties then.
import { flushSync, mount, unmount } from 'svelte';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { networkProblem } from '../../api/problem';
import { hasUnsavedText } from '../../object/sign-out-work';
import { dismissToast, toasts } from '../../ui/toasts.svelte';
import { readMedia, type MediaFile } from '../../value/media';
import AltText from './AltText.svelte';

const server = vi.hoisted(() => ({
  /** Alternative texts by file. */
  texts: {} as Record<string, string>,
  down: false,
}));

vi.mock('../../session/session.svelte', () => ({ may: () => true }));
vi.mock('../../object/summary-cache.svelte', () => ({ cacheSummary: () => undefined }));
vi.mock('../../object/update-alt-text', () => ({
  updateAltText: (id: string, before: string, alt: string) => {
    if (server.down) return Promise.resolve({ problem: { ...networkProblem(), message: 'No network.' } });
    const changed = server.texts[id] !== before;
    if (!changed) server.texts[id] = alt;
    return Promise.resolve({ data: { file: { file: { alt: server.texts[id] } }, changed }, etag: null });
  },
}));

const media = (id: string): MediaFile => readMedia({ id, fileName: `${id}.png`, alt: server.texts[id] });

/** Shows the input, types into it, and closes it while its file is `after` already. */
function typeAndClose(text: string, after: MediaFile | null, before = media('a')): void {
  let file = $state.raw<MediaFile | null>(before);
  const props = {
    get file(): MediaFile {
      if (file === null) throw new Error('the list has no such file any more');
      return file;
    },
  };
  const target = document.body.appendChild(document.createElement('div'));
  const input = mount(AltText, { target, props });
  flushSync();
  const control = target.querySelector('textarea');
  if (!control) throw new Error('no input');
  control.value = text;
  control.dispatchEvent(new Event('input', { bubbles: true }));
  flushSync();
  file = after;
  void unmount(input);
  target.remove();
}

const shown = () => toasts.all.map(({ message, action }) => `${message} [${action?.label ?? ''}]`);
/** Chooses the action of the last message. */
function act(): void {
  const last = toasts.all.at(-1);
  if (!last) throw new Error('no message');
  dismissToast(last.id);
  last.action?.run();
}

beforeEach(() => {
  Object.assign(server, { texts: { a: 'old', b: 'other' }, down: false });
  for (const { id } of toasts.all) dismissToast(id);
});

describe('an alternative text that is saved after its input was closed', () => {
  it.each(['another file', 'no file'])(
    'is that of its own file, although the input has %s then',
    async (after) => {
      typeAndClose('new', after === 'no file' ? null : media('b'));
      await vi.waitFor(() => expect(server.texts).toEqual({ a: 'new', b: 'other' }));
      expect(shown()).toEqual([]);
      expect(hasUnsavedText()).toBe(false);
    },
  );

  it('stays in a message until it is saved', async () => {
    server.down = true;
    typeAndClose('new', null);
    const message = 'The alt text of a.png is not saved. No network. [Try again]';
    await vi.waitFor(() => expect(shown()).toEqual([message]));
    act();
    await vi.waitFor(() => expect(shown()).toEqual([message]));
    server.down = false;
    act();
    await vi.waitFor(() => expect(server.texts.a).toBe('new'));
    expect(shown()).toEqual([]);
  });

  it('replaces the text of somebody else only when the user wants to', async () => {
    const file = media('a');
    server.texts.a = 'of Ben';
    typeAndClose('new', null, file);
    await vi.waitFor(() =>
      expect(shown()).toEqual([
        'The alt text of a.png is not saved. Somebody changed it to “of Ben”. [Replace it]',
      ]),
    );
    expect(server.texts.a).toBe('of Ben');
    act();
    await vi.waitFor(() => expect(server.texts.a).toBe('new'));
  });
});
