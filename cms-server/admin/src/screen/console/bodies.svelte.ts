// Bodies that were typed or handed over, by operation: leaving the console, or choosing another operation, loses
// nothing.
import { SvelteMap } from 'svelte/reactivity';

export const bodies = new SvelteMap<string, string>();
