// Waits for a pause in typing. A waiting call is dropped when its component is destroyed: it would act on the next
// screen.
import { onDestroy } from 'svelte';

/** To be called while a component is created. The result calls `run` after `wait` milliseconds without another call. */
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
