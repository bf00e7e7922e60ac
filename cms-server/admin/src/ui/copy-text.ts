// Copies a text, and confirms that by a toast. A page without HTTPS may not copy: then the toast asks the user to
// select the text.
import { t } from '../text';
import { toast } from './toasts.svelte';

/** Returns whether the text was copied. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    toast(t.common.notCopied, { kind: 'danger' });
    return false;
  }
  toast(t.common.copied);
  return true;
}
