// The parts of an object: content, translations, versions, what links to it; each with its count.
import { expect, expectAccessible, test } from '../support';
import { openForm, saveButton } from '../writing';

const TRANSLATED = {
  id: 'two-languages',
  contact_title: 'Contact',
  phone: '1234',
  __translations: [
    { __language: 'de', contact_title: 'Kontakt', phone: '1234' },
    { __language: 'fr', contact_title: 'Contact' },
  ],
};

test('says how many languages are translated, and goes to an error in one', async ({ page, server }) => {
  await server.send('POST', '/api/v1/content/contact', TRANSLATED);
  await openForm(page, 'c/contact/two-languages');
  const tab = page.getByRole('navigation', { name: 'Parts of this object' });
  const translations = tab.getByRole('link', { name: /^Translations/ });
  await expect(translations).toHaveText(/^Translations.1\/2$/);
  await expect(page.getByRole('group', { name: 'Translations' })).toBeHidden();
  await translations.click();
  await expect(page).toHaveURL(/panel=translations/);
  await expect(translations).toHaveAttribute('aria-current', 'page');
  await expect(page.getByLabel('Contact title').first()).toBeHidden();
  const group = page.getByRole('group', { name: 'Translations' });
  await group.getByRole('tab', { name: /^French/ }).click();
  await group.getByRole('textbox', { name: 'Phone' }).fill('+33');
  await expect(translations).toHaveText(/^Translations.2\/2$/);
  await expectAccessible(page);
  // A save from the content opens the translation with an error.
  await group.getByRole('textbox', { name: 'Email' }).fill('no address');
  await tab.getByRole('link', { name: 'Content' }).click();
  await expect(page.getByRole('textbox', { name: 'Phone' })).toHaveValue('1234');
  await saveButton(page).click();
  await expect(group.getByRole('textbox', { name: 'Email' })).toBeFocused();
  await expect(page).toHaveURL(/panel=translations/);
  await group.getByRole('textbox', { name: 'Email' }).fill('paris@example.com');
  await saveButton(page).click();
  await expect(page.getByText('Saved as version 2.')).toBeVisible();
  await expect(tab.getByRole('link', { name: /^Versions/ })).toHaveText(/^Versions.2$/);
  await page.reload();
  await expect(group.getByRole('tab', { name: /^French, 2 of 2 / })).toBeVisible();
});

test('has translations of a new object beside its content', async ({ page }) => {
  await openForm(page, 'c/contact/+new');
  await page.getByLabel('Contact title').fill('Contact');
  const tabs = page.getByRole('navigation', { name: 'Parts of this object' });
  await expect(tabs.getByRole('link')).toHaveText(['Content', 'Translations']);
  await tabs.getByRole('link', { name: 'Translations' }).click();
  await page.getByRole('combobox', { name: 'Add a language' }).fill('germ');
  await page.getByRole('combobox', { name: 'Add a language' }).press('Enter');
  await page.getByRole('tabpanel').getByRole('textbox', { name: 'Contact title' }).fill('Kontakt');
  await expect(tabs.getByRole('link', { name: /^Translations/ })).toHaveText(/^Translations.1\/1$/);
  await saveButton(page).click();
  await expect(page.getByText('Saved as version 1.')).toBeVisible();
  await expect(page.getByRole('tabpanel').getByRole('textbox', { name: 'Contact title' })).toHaveValue(
    'Kontakt',
  );
  await expectAccessible(page);
});

test('says how many objects link to it, a moment after it was opened', async ({ page }) => {
  await page.clock.install();
  await openForm(page, 'c/author/maren');
  await page.clock.fastForward(5000);
  const used = page.getByRole('link', { name: /^Used by/ });
  await expect(used).toHaveText(/^Used by.\d+$/, { timeout: 20_000 });
  const count = ((await used.textContent()) ?? '').replace(/\D/g, '');
  await used.click();
  await expect(page.getByText(`${count} objects link to it`)).toBeVisible();
});
