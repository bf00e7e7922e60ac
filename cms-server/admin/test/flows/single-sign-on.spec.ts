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

test('signs in at the provider, and returns to the address that was asked for', async ({
  page,
  issuer,
  server,
  home,
}) => {
  const user = await createUser(server, 'editor');
  issuer.account = { email: user.email, email_verified: true, name: 'Edith' };
  await page.goto(`${home}/admin/c/author/maren`);
  await expect(page.getByRole('link', { name: 'Tidemill account' })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('link', { name: 'Tidemill account' }).click();
  await expect(page.getByRole('heading', { name: 'Maren Holloway' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'editor user' })).toBeVisible();
  await expectAccessible(page);
});

test('says that a stranger has no account', async ({ page, issuer }) => {
  issuer.account = { email: 'stranger@example.com', email_verified: true, name: 'A stranger' };
  await page.getByRole('link', { name: 'Tidemill account' }).click();
  await expect(page.getByRole('alert')).toContainText('You have no account here.');
  await expect(page).toHaveURL(/\/admin\/sign-in$/);
  await expectAccessible(page);
});

test('says that the provider refused', async ({ page }) => {
  await page.getByRole('link', { name: 'Tidemill account' }).click();
  await expect(page.getByRole('alert')).toContainText('The single sign-on service refused the sign-in.');
});
