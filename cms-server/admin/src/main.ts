// Starts the page: language, texts, style sheets, then the application.
import { mount } from 'svelte';
import App from './App.svelte';
import { applyPreferences } from './session/preferences.svelte';
import { loadTexts, preferredLanguage, useLanguage, type Area } from './text';
import './ui/tokens.css';
import './ui/base.css';

/** Written by the build (../texts.ts). */
declare const FIRST_TEXTS: Area[];

async function start(target: HTMLElement): Promise<void> {
  applyPreferences();
  useLanguage(preferredLanguage());
  await loadTexts(FIRST_TEXTS);
  mount(App, { target });
}

// Not awaited here: files of texts import what they share with this module, and would wait for it.
const app = document.getElementById('app');
if (app) void start(app);
