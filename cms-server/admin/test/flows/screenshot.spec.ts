// The screenshot in the documentation: test/results/admin-page.png, copied to docs/images by hand.
import { expect, expectAccessible, signIn, test } from '../support';

test.use({ deviceScaleFactor: 1, colorScheme: 'light', viewport: { width: 1280, height: 800 } });

test('screenshot shows the list of posts', async ({ page }) => {
  await signIn(page);
  await page.getByRole('navigation', { name: 'Navigation' }).getByRole('link', { name: 'Post' }).click();
  await expect(page.getByRole('table').getByRole('rowheader')).toHaveCount(16);
  await expect(page.getByRole('status').getByText('live', { exact: true })).toBeVisible();
  await page.mouse.move(640, 790);
  // The port is another one each time.
  await page
    .getByRole('banner')
    .getByRole('link')
    .locator('.site')
    .evaluate((name) => (name.textContent = 'www.tidemill.example'));
  await expectAccessible(page);
  await page.screenshot({ path: 'test/results/admin-page.png' });
});
