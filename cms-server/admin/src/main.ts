// Starts the page: language, style sheets, then the application.
import { mount } from 'svelte';
import App from './App.svelte';
import { applyPreferences } from './session/preferences.svelte';
import { loadTexts, preferredLanguage } from './text';
import './ui/tokens.css';
import './ui/base.css';

const target = document.getElementById('app');
if (target) {
  applyPreferences();
  await loadTexts(preferredLanguage());
  mount(App, { target });
}
