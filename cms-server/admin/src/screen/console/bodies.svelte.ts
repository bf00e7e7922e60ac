// Request bodies by operation: typed ones, and those of sent requests that were opened in the console. They stay
// when the user leaves the console or chooses another operation.
import { SvelteMap } from 'svelte/reactivity';

export const bodies = new SvelteMap<string, string>();
