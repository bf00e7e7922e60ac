// Shows the application, after the texts of its frame were loaded.
import { mount } from 'svelte';
import App from './App.svelte';
import { applyPreferences } from './session/preferences.svelte';

export function start(target: HTMLElement): void {
  applyPreferences();
  mount(App, { target });
}
