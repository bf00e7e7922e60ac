// Copies a text and says so. A page without HTTPS may not copy: then it says that, and the text is to be
// selected by hand.
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
