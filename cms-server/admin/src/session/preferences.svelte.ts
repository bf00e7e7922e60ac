// How the user wants the page: colours, density, shortcuts. Stored in this browser, so that they apply before
// the first request, and in the settings of the user for other browsers. Imports no screen.
import type { Problem } from '../api/problem';
import { isLanguage, language, preferredLanguage, storeLanguage, type Language } from '../text';
import { parsedJson } from '../value/json';
import { readLocal, writeLocal } from '../value/local-storage';
import { isRecord } from '../value/record';
import { changeSettings, loadSettings, settings } from './settings.svelte';

export const THEMES = ['system', 'light', 'dark', 'contrast'] as const;
export type Theme = (typeof THEMES)[number];
export const DENSITIES = ['comfortable', 'compact'] as const;
export type Density = (typeof DENSITIES)[number];

interface Preferences {
  theme: Theme;
  density: Density;
  /** Single keys and combinations; without them every function stays reachable. */
  shortcuts: boolean;
}

const STORAGE_KEY = 'cms.preferences';
const SETTINGS_AREA = 'page';

function readPreferences(stored: Record<string, unknown>): Preferences {
  return {
    theme: THEMES.find((theme) => theme === stored.theme) ?? 'system',
    density: DENSITIES.find((density) => density === stored.density) ?? 'comfortable',
    shortcuts: stored.shortcuts !== false,
  };
}

function storedInBrowser(): Record<string, unknown> {
  const stored = parsedJson(readLocal(STORAGE_KEY) ?? '');
  return isRecord(stored) ? stored : {};
}

let current = $state.raw(readPreferences(storedInBrowser()));

export const preferences = {
  get theme(): Theme {
    return current.theme;
  },
  get density(): Density {
    return current.density;
  },
  get shortcuts(): boolean {
    return current.shortcuts;
  },
};

/** Makes colours and density visible. */
export function applyPreferences(): void {
  const { dataset } = document.documentElement;
  dataset.theme = current.theme;
  dataset.density = current.density;
}

/** Changes preferences here and on the server. */
export function changePreferences(change: Partial<Preferences>): Promise<Problem | null> {
  // Another tab may have changed others.
  store(readPreferences({ ...current, ...storedInBrowser(), ...change }));
  return changeSettings(SETTINGS_AREA, (area) => ({ ...area, ...change }));
}

/** Stores the language here and on the server; it applies when the page is loaded again. */
export function changeLanguage(chosen: Language): Promise<Problem | null> {
  storeLanguage(chosen);
  return changeSettings(SETTINGS_AREA, (area) => ({ ...area, language: chosen }));
}

/**
 * Takes over what the user has set, in place of what an earlier user of this browser has set. True if the page must be
 * loaded again, in another language.
 */
export async function adoptPreferences(): Promise<boolean> {
  if (await loadSettings()) return false;
  const area = settings.area(SETTINGS_AREA);
  store(readPreferences(area));
  if (!isLanguage(area.language) || area.language === language) return false;
  storeLanguage(area.language);
  return preferredLanguage() === area.language;
}

function store(preferences: Preferences): void {
  current = preferences;
  writeLocal(STORAGE_KEY, JSON.stringify(preferences));
  applyPreferences();
}
