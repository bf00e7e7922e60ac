// What the flows of writing share.
import type { Locator, Page } from '@playwright/test';
import { expect, open } from './support';

export const saveButton = (page: Page): Locator => page.getByRole('button', { name: /^(Save|Create)/ });

/** Opens a form by its path below /admin. */
export async function openForm(page: Page, path: string): Promise<void> {
  await open(page, path);
  await expect(saveButton(page)).toBeVisible();
}

/** Nothing of what is typed from now on reaches the server before it is saved. */
export async function withoutWorkingCopies(page: Page): Promise<void> {
  await page.route('**/working-copy', (route) =>
    route.request().method() === 'PUT' ? route.abort() : route.continue(),
  );
}

/** From now on, the page notices changes by its own requests only. */
export async function withoutLiveUpdates(page: Page): Promise<void> {
  await page.route('**/api/v1/changes*', (route) => route.abort());
}

/** Pastes a text into a control or an editor, in place of what it has. */
export async function paste(control: Locator, text: string, html = ''): Promise<void> {
  await control.focus();
  await control.press('Control+a');
  await control.evaluate(
    (element, [plain, rich]) => {
      const data = new DataTransfer();
      data.setData('text/plain', plain ?? '');
      if (rich) data.setData('text/html', rich);
      element.dispatchEvent(
        new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }),
      );
    },
    [text, html],
  );
}

/** Chooses the sign-out in the menu of the top bar. */
export async function chooseSignOut(page: Page): Promise<void> {
  await page
    .getByRole('banner')
    .getByRole('button', { name: /▾|ada|user/ })
    .click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
}

/** Signs out, and waits for the page that is loaded then. */
export async function signOut(page: Page): Promise<void> {
  await chooseSignOut(page);
  await page.waitForURL('**/admin/sign-in');
}
