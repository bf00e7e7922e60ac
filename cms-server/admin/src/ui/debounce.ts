// Waits for a pause in typing. What waits is dropped when its component is gone: it would act on the next
// screen.
import { onDestroy } from 'svelte';

/** Calls `run` when it was not called again for `wait` milliseconds. Call it while a component starts. */
export function debounce<Args extends unknown[]>(
  wait: number,
  run: (...args: Args) => void,
): { (...args: Args): void; cancel: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const cancel = () => clearTimeout(timer);
  onDestroy(cancel);
  const later = (...args: Args) => {
    cancel();
    timer = setTimeout(() => run(...args), wait);
  };
  return Object.assign(later, { cancel });
}
