// Options of a select that a typed text finds.
import type { Option } from '../../type/form';

/** Options whose label or value contains the text, ignoring case and accents, as items of a combobox. */
export function matching(options: Option[], text: string): { key: string; label: string }[] {
  const wanted = plain(text.trim());
  return options
    .filter(({ label, value }) => plain(label).includes(wanted) || plain(value).includes(wanted))
    .map(({ label, value }) => ({ key: value, label }));
}

function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}
