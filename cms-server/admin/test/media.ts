// Files for flows: a small image, as a file, and pasted; and uploads that wait.
import type { Locator, Page } from '@playwright/test';

/** An image that the server can decode. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAEklEQVR4nGP4z8CAB+GTG8HSALfKY52fTcuYAAAAAElFTkSuQmCC';

export const png = (name: string): { name: string; mimeType: string; buffer: Buffer } => ({
  name,
  mimeType: 'image/png',
  buffer: Buffer.from(PNG, 'base64'),
});

export async function pasteImage(target: Locator, name = 'pasted.png'): Promise<void> {
  await target.evaluate(
    (element, [file, bytes]) => {
      const data = new DataTransfer();
      const content = Uint8Array.from(atob(bytes ?? ''), (letter) => letter.charCodeAt(0));
      data.items.add(new File([content], file ?? '', { type: 'image/png' }));
      const init = { clipboardData: data, bubbles: true, cancelable: true };
      element.dispatchEvent(new ClipboardEvent('paste', init));
    },
    [name, PNG],
  );
}

/** Uploads wait until the returned function is called. */
export async function holdUploads(page: Page): Promise<() => void> {
  let release: () => void = () => undefined;
  const released = new Promise<void>((done) => (release = done));
  await page.route('**/api/media', async (route) => {
    await released;
    await route.continue();
  });
  return release;
}
