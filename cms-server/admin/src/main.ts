// Starts the page. The first requests, the code of the first screen and that of the frame (`start.ts`) load in
// parallel. Imports of this file load before all of these: keep them small.
import { sendPreloads } from './api/preload';
import { screenFor } from './screen/shell/screens';
import { preferredLanguage, useLanguage } from './text';
import { decoded } from './value/url';
import './ui/tokens.css';
import './ui/base.css';
import './ui/classes.css';

useLanguage(preferredLanguage());

/** The code of the screen that will be shown first. A failure is reported when it is shown. */
function loadFirstScreen(hasSession: boolean): Promise<unknown> | undefined {
  if (!hasSession) return import('./screen/sign-in/SignIn.svelte');
  const segments = location.pathname.split('/').slice(2).filter(Boolean).map(decoded);
  return screenFor(segments.length > 0 ? segments : [''])?.load();
}

void loadFirstScreen(sendPreloads())?.catch(() => null);
const app = document.getElementById('app');
if (app) void import('./start').then(({ start }) => start(app));
