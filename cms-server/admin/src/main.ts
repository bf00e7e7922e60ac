// Starts the page: its first requests and the code of the screen in the address are loaded side by side with
// the code of the frame. Small, and not part of it: what this file imports is loaded before everything else.
import { sendFirstRequests } from './api/first-requests';
import { screenFor } from './screen/shell/screens';
import { preferredLanguage, useLanguage } from './text';
import { decoded } from './value/url';
import './ui/tokens.css';
import './ui/base.css';

useLanguage(preferredLanguage());

/** The code of the screen that will be shown first. A failure is reported when it is shown. */
function loadFirstScreen(hasSession: boolean): Promise<unknown> | undefined {
  if (!hasSession) return import('./screen/sign-in/SignIn.svelte');
  const segments = location.pathname.split('/').slice(2).filter(Boolean).map(decoded);
  return screenFor(segments.length > 0 ? segments : [''])?.load();
}

void loadFirstScreen(sendFirstRequests())?.catch(() => null);
const app = document.getElementById('app');
if (app) void import('./start').then(({ start }) => start(app));
