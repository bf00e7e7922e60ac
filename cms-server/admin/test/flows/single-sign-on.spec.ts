import { createUser, expect, expectAccessible, test as base } from '../support';
import { Issuer } from '../issuer';

const test = base.extend<{ issuer: Issuer }>({
  issuer: async ({}, use) => {
    const issuer = new Issuer();
    await issuer.start();
    await use(issuer);
    await issuer.stop();
  },
  options: async ({ issuer }, use) => {
    const environment = {
      CMS_OPENID_ISSUER: issuer.url,
      CMS_OPENID_CLIENT_ID: 'cms',
      CMS_OPENID_CLIENT_SECRET: 'a-client-secret',
      CMS_OPENID_LABEL: 'Tidemill account',
    };
    await use({ environment });
  },
});

test('signs in at the provider, and returns to the requested address', async ({ page, issuer, server }) => {
  const user = await createUser(server, 'editor');
  issuer.account = { email: user.email, email_verified: true, name: 'Edith' };
  await page.goto('/admin/c/author/maren');
  await expect(page.getByRole('link', { name: 'Tidemill account' })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('link', { name: 'Tidemill account' }).click();
  await expect(page.getByRole('heading', { name: 'Maren Holloway' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'editor user' })).toBeVisible();
  await expectAccessible(page);
});

test('says that a stranger has no account', async ({ page, issuer }) => {
  issuer.account = { email: 'stranger@example.com', email_verified: true, name: 'A stranger' };
  await page.goto('/admin');
  await page.getByRole('link', { name: 'Tidemill account' }).click();
  await expect(page.getByRole('alert')).toContainText('You have no account here.');
  await expect(page).toHaveURL(/\/admin\/sign-in$/);
  await expectAccessible(page);
});

test('says that the provider refused', async ({ page }) => {
  await page.goto('/admin');
  await page.getByRole('link', { name: 'Tidemill account' }).click();
  await expect(page.getByRole('alert')).toContainText('The single sign-on service refused the sign-in.');
});

test('continues with the text after single sign-on in another tab', async ({
  page,
  context,
  issuer,
  server,
}) => {
  const user = await createUser(server, 'editor');
  issuer.account = { email: user.email, email_verified: true, name: 'Edith' };
  await page.goto('/admin/c/author/maren');
  await page.getByRole('link', { name: 'Tidemill account' }).click();
  await page.getByLabel('Name').fill('Written over the end of a session');
  await context.clearCookies();
  await page.keyboard.press('Control+s');
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
  const button = dialog.getByRole('link', { name: 'Tidemill account' });
  await expect(button).toBeVisible();
  await expectAccessible(page);
  const opened = context.waitForEvent('page');
  await button.click();
  const other = await opened;
  await expect(other.getByRole('button', { name: 'editor user' })).toBeVisible();
  // The first tab continues automatically.
  await expect(dialog).toBeHidden();
  await expect(page.getByText(/Saved as version/)).toBeVisible();
  await expect(page.getByLabel('Name')).toHaveValue('Written over the end of a session');
  await expectAccessible(page);
});
