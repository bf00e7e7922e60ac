// The structure of the main screens as assistive technology gets it: landmarks, headings, names and roles.
import type { Locator, Page } from '@playwright/test';
import { addManaged, openScreen } from '../screens';
import { expect, expectAccessible, signIn, test } from '../support';

const main = (page: Page): Locator => page.getByRole('main');

test('sign-in is a form with named fields', async ({ page }) => {
  await page.goto('/admin');
  await expect(page.locator('body')).toMatchAriaSnapshot(`
    - main:
      - heading "Sign in" [level=1]
      - text: E-mail
      - textbox "E-mail"
      - text: Password
      - textbox "Password"
      - button "Show"
      - button "Sign in"
  `);
  await expectAccessible(page);
});

test('the frame has a skip link, landmarks and groups of links', async ({ page }) => {
  await signIn(page);
  await expect(main(page).getByRole('heading', { name: 'Home' })).toBeVisible();
  await expect(page.locator('body')).toMatchAriaSnapshot(`
    - link "Skip to content"
    - banner:
      - link /cms 127/
      - button "Search or jump to…"
      - status "Changes of others appear here immediately.": live
      - button "ada"
    - navigation "Navigation":
      - list:
        - listitem:
          - link "Home"
      - heading "Content" [level=2]
      - list:
        - listitem:
          - link "About"
      - heading "Everything" [level=2]
      - list:
        - listitem:
          - link "Activity"
      - heading "Manage" [level=2]
      - list:
        - listitem:
          - link "Types"
    - main:
      - heading "Home" [level=1]
      - heading "Recent changes" [level=2]
      - list
      - region "Content types":
        - heading "Content types" [level=2]
        - list
  `);
  await expectAccessible(page);
});

test('a list is a table with named columns, sortable by buttons', async ({ page }) => {
  await openScreen(page, 'c/author');
  await expect(main(page)).toMatchAriaSnapshot(`
    - heading "Author" [level=1]
    - status: 1–5 of 5
    - 'link "New: Author"'
    - search "Filters":
      - searchbox
      - button "+ Filter"
    - button /View/
    - button "Display"
    - table "Objects of type Author":
      - rowgroup:
        - row:
          - cell "Select all rows on this page":
            - checkbox "Select all rows on this page"
          - columnheader "Title":
            - button "Title"
          - columnheader "Role":
            - button "Role"
      - rowgroup:
        - row /Maren Holloway/:
          - cell "Select Maren Holloway":
            - checkbox "Select Maren Holloway"
          - rowheader "Maren Holloway":
            - link "Maren Holloway"
          - cell "Roasts"
  `);
  await expectAccessible(page);
});

test('a form names each field, what is required and what helps', async ({ page }) => {
  await openScreen(page, 'c/product/tidewater');
  await expect(main(page).locator('form')).toMatchAriaSnapshot(`
    - textbox "Name (required)": Tidewater
    - textbox "Slug": tidewater
    - combobox "Kind (required)":
      - option "coffee" [selected]
    - textbox "Price (required)"
    - paragraph: In euros
    - group "Sizes":
      - checkbox "125 g" [checked]
    - group "Roast":
      - radiogroup:
        - radio "light"
        - radio "medium" [checked]
    - checkbox "In season" [checked]
    - group "Tasting notes":
      - list "Tasting notes":
        - listitem:
          - button "Move hazelnut"
          - textbox "Tasting notes, item 1": hazelnut
          - button "Remove hazelnut"
    - group "Brewing":
      - list "Brewing":
        - listitem:
          - button "Move cloth filter"
          - textbox "Method (required)": cloth filter
    - group "Origin":
      - 'combobox "Origin: search"'
    - group "Pictures"
    - group "Description":
      - toolbar
      - textbox "Description"
  `);
  await expect(main(page).getByRole('complementary')).toMatchAriaSnapshot(`
    - paragraph: Every save is visible to readers immediately.
    - button "More actions"
    - term: Version
    - definition
  `);
  await expectAccessible(page);
});

test('dialogs have names, and end with what they do', async ({ page, server }) => {
  await addManaged(server);
  await openScreen(page, 'c/product/tidewater');
  await page.getByRole('button', { name: 'More actions' }).click();
  await expect(page.getByRole('menu')).toMatchAriaSnapshot(`
    - menu "More actions":
      - group:
        - menuitem "Duplicate"
        - menuitem "Delete…"
  `);
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  await expect(page.getByRole('dialog')).toMatchAriaSnapshot(`
    - dialog "Delete Tidewater?":
      - heading "Delete Tidewater?" [level=2]
      - button "Close"
      - paragraph: /objects link to it/
      - list:
        - listitem:
          - link "Ingrid Åsen"
      - button "Cancel"
      - button "Delete" [disabled]
  `);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Choose… Pictures' }).click();
  await expect(page.getByRole('listbox').getByRole('option').first()).toBeVisible();
  await expect(page.getByRole('dialog')).toMatchAriaSnapshot(`
    - dialog "Choose files":
      - heading "Choose files" [level=2]
      - searchbox "Search by name, alt text or title"
      - combobox "Kind of file":
        - option "All files" [selected]
      - listbox "Media":
        - option /mill-at-dawn/
      - button "Cancel"
      - button "Choose" [disabled]
  `);
  await page.keyboard.press('Escape');
  await page.keyboard.press('ControlOrMeta+k');
  await expect(page.getByRole('listbox').getByRole('option').first()).toBeVisible();
  await expect(page.getByRole('dialog')).toMatchAriaSnapshot(`
    - dialog:
      - combobox [expanded]
      - listbox:
        - group:
          - option [selected]
  `);
  await expectAccessible(page);
});

test('versions, types and users are tables; settings are groups', async ({ page, server }) => {
  await addManaged(server);
  await openScreen(page, 'c/product/tidewater?panel=versions');
  await expect(main(page)).toMatchAriaSnapshot(`
    - heading "Tidewater" [level=1]
    - navigation:
      - link "Content"
      - link "Versions 2"
      - link "Used by"
    - region "Versions":
      - link "Compare"
      - table:
        - rowgroup:
          - row:
            - columnheader "From"
            - columnheader "To"
            - columnheader "Version"
        - rowgroup:
          - row /Changed. Price/:
            - cell:
              - radio "Compare from version 2"
            - cell:
              - radio "Compare to version 2" [checked]
  `);
  await openScreen(page, 'types');
  await expect(main(page)).toMatchAriaSnapshot(`
    - heading "Types" [level=1]
    - search:
      - searchbox "Name or label"
    - region "Types":
      - table:
        - rowgroup:
          - row:
            - columnheader "Label"
            - columnheader "Name"
  `);
  await openScreen(page, 'me');
  await expect(main(page)).toMatchAriaSnapshot(`
    - heading "My settings" [level=1]
    - region "This page":
      - combobox "Language":
        - option "English" [selected]
      - group "Colours":
        - radio "Use device setting" [checked]
      - group "Density":
        - radio "Comfortable" [checked]
    - region "Password"
    - region "Sessions":
      - group "Sessions":
        - table
  `);
  await expectAccessible(page);
});
