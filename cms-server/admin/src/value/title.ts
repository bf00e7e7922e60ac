// The title of an object in texts of the page.

/** The title, or the id of an object whose title is empty or has only spaces. */
export function displayTitle(title: string | null | undefined, id: string): string {
  return title?.trim() || id;
}
