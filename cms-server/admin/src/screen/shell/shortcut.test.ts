// @vitest-environment jsdom
import { afterEach, expect, it } from 'vitest';
import { parseHtml } from '../../text/html';
import { isShortcut } from './shortcut';

afterEach(() => {
  document.body.replaceChildren();
});

/** Two open sheets with a form each; `target` has the focus. */
it.each([
  ['#lower-head', '#lower', true],
  ['#upper-head', '#upper', true],
  ['#upper-head', '#lower', false],
  ['#upper-head', '#page', false],
  ['body', '#page', false],
])('with the focus on %s, the shortcut acts on %s: %s', (target, form, acts) => {
  const html =
    '<form id="page"></form>' +
    '<dialog open><button id="lower-head"></button><form id="lower"></form></dialog>' +
    '<dialog open><button id="upper-head"></button><form id="upper"></form></dialog>';
  document.body.replaceChildren(...parseHtml(html).body.childNodes);
  const event = new KeyboardEvent('keydown', { key: 's', ctrlKey: true, bubbles: true });
  document.querySelector(target)?.dispatchEvent(event);
  expect(isShortcut(event, 's', document.querySelector(form) ?? undefined)).toBe(acts);
});
